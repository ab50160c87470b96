-- Templates whose scenario or question holds a name of the answer's concept: synonyms and
-- abbreviations of the Metathesaurus, titles of its codes, salts and brands of a drug, order-entry
-- abbreviations. Names and texts are folded alike; an ambiguous abbreviation is not searched for.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

texts as (

    select * from {{ ref('int_template_texts') }}

),

questions as (

    select * from {{ ref('int_question_texts') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}
    where mapping_level = 'exact'

),

titles as (

    select * from {{ ref('int_icd_titles') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

drug_atoms as (

    select * from {{ ref('int_drug_atoms') }}

),

drug_abbreviations as (

    select * from {{ ref('drug_abbreviations') }}

),

noise as (

    select list(word order by word) as words from {{ ref('leak_noise_words') }}

),

ambiguous as (

    select {{ leak_joined_words(leak_folded_words('name')) }} as words_in_order
    from {{ ref('ambiguous_abbreviations') }}

),

concepts as (

    select distinct
        templates.answer_cui_id as cui_id,
        labels.label as name,
        templates.answer_event_type = 'medication' as is_drug
    from templates
    inner join labels
        on templates.answer_option_key = labels.option_key

),

{{ leak_concept_names() }},

{{ leak_stem_lines() }},

{{ leak_line_windows() }},

lines_naming as (

    select
        windows.line_number,
        names_searched.cui_id,
        names_searched.name
    from windows
    inner join names_searched
        on windows.words_in_order = names_searched.words_in_order

    union

    select
        windows.line_number,
        names_searched.cui_id,
        names_searched.name
    from windows
    inner join names_searched
        on windows.words_sorted = names_searched.words_sorted

),

named as (

    select
        templates.template_key,
        min(concat(stem_lines.place, ': ', lines_naming.name)) as evidence
    from templates
    inner join stem_lines
        on templates.template_number = stem_lines.template_number
    inner join lines_naming
        on stem_lines.line_number = lines_naming.line_number
        and templates.answer_cui_id = lines_naming.cui_id
    group by templates.template_key

),

found as (

    select
        'L02' as rule_id,
        'template' as scope,
        template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        evidence
    from named

)

select * from found
