-- Templates whose scenario or question holds a name of the answer's concept: synonyms and
-- abbreviations of the Metathesaurus, titles of its codes, salts and brands of a drug, order-entry
-- abbreviations. Names and texts are folded alike; an ambiguous abbreviation is not searched for.
with

templates as (

    select * from {{ ref('int_templates') }}

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

answers as (

    select distinct
        templates.answer_event_type as event_type,
        templates.answer_cui_id as cui_id,
        labels.label
    from templates
    inner join labels
        on templates.answer_option_key = labels.option_key

),

drug_forms as (

    select
        answers.cui_id,
        drug_ingredients.cui_id as form_cui_id
    from answers
    inner join drug_ingredients
        on answers.cui_id = drug_ingredients.ingredient_cui_id
    where answers.event_type = 'medication'

),

names as (

    select
        cui_id,
        label as name
    from answers

    union

    select
        cui_id,
        name
    from atoms
    where exists (
        select 1 from answers
        where answers.cui_id = atoms.cui_id
    )

    union

    select
        answers.cui_id,
        titles.title as name
    from answers
    inner join code_concepts
        on answers.cui_id = code_concepts.cui_id
    inner join titles
        on code_concepts.code_system = titles.code_system
        and code_concepts.normalized_code = titles.normalized_code

    union

    select
        drug_forms.cui_id,
        drug_atoms.name
    from drug_forms
    inner join drug_atoms
        on drug_forms.form_cui_id = drug_atoms.cui_id

    union

    select
        answers.cui_id,
        drug_abbreviations.word as name
    from answers
    inner join drug_abbreviations
        on {{ leak_words('answers.label') }} = {{ leak_words('drug_abbreviations.replacement') }}
    where answers.event_type = 'medication'

),

names_folded as (

    select
        names.cui_id,
        names.name,
        list_filter(
            {{ leak_folded_words('names.name') }},
            lambda w: not list_contains(noise.words, w)
        ) as words
    from names
    cross join noise

),

names_keyed as (

    select
        cui_id,
        {{ leak_joined_words('words') }} as words_in_order,
        array_to_string(list_sort(words), ' ') as words_sorted,
        min(name) as name
    from names_folded
    group by all

),

names_searched as (

    select names_keyed.*
    from names_keyed
    anti join ambiguous
        on names_keyed.words_in_order = ambiguous.words_in_order
    where length(names_keyed.words_in_order) >= {{ var('leak_min_name_letters') }}

),

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
