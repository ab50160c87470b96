-- Templates whose scenario or question names the class of the answer's drug: a group of ATC level 3
-- to 5 that holds it, or a word of the class lexicon. Procedures have no class here.
with

templates as (

    select * from {{ ref('int_template_forms') }}
    where answer_event_type = 'medication'

),

texts as (

    select * from {{ ref('int_template_texts') }}

),

questions as (

    select * from {{ ref('int_question_texts') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}
    where level >= 3

),

lexicon as (

    select * from {{ ref('class_lexicon') }}
    where event_type = 'medication'

),

labels as (

    select * from {{ ref('int_option_labels') }}
    where event_type = 'diagnosis'

),

noise as (

    select list(word order by word) as words from {{ ref('leak_noise_words') }}

),

-- Two regular expressions: what a name may begin with, and where it is cut.
cuts as (

    select
        string_agg(pattern, '|' order by cue) filter (where part = 'name_start') as name_start,
        concat(
            '^(.*?)(',
            string_agg(pattern, '|' order by cue) filter (where part = 'name_end'),
            '|$)'
        ) as name_until
    from {{ ref('leak_patterns') }}
    where rule_id = 'L10'

),

ambiguous as (

    select {{ leak_joined_words(leak_folded_words('name')) }} as words_in_order
    from {{ ref('ambiguous_abbreviations') }}

),

answers as (

    select distinct answer_cui_id as cui_id
    from templates

),

answer_classes as (

    select
        answers.cui_id,
        drug_classes.atc_code,
        drug_classes.atc_name
    from answers
    inner join drug_classes
        on answers.cui_id = drug_classes.cui_id

),

-- A group's name is cut where it says what the group leaves out or adds.
class_names as (

    select
        answer_classes.cui_id,
        answer_classes.atc_code,
        regexp_extract(
            regexp_replace(lower(answer_classes.atc_name), cuts.name_start, ''), cuts.name_until, 1
        ) as name,
        cast(null as varchar) as not_after,
        true as is_group
    from answer_classes
    cross join cuts

    union

    select
        answer_classes.cui_id,
        lexicon.atc_prefix as atc_code,
        lexicon.phrase as name,
        lexicon.not_after,
        false as is_group
    from answer_classes
    inner join lexicon
        on starts_with(answer_classes.atc_code, lexicon.atc_prefix)

),

names_folded as (

    select
        class_names.*,
        list_filter(
            {{ leak_folded_words('class_names.name') }},
            lambda w: not list_contains(noise.words, w)
        ) as words
    from class_names
    cross join noise

),

names_keyed as (

    select
        cui_id,
        atc_code,
        trim(name) as name,
        not_after,
        is_group,
        {{ leak_joined_words('words') }} as words_in_order
    from names_folded
    where len(words) > 0

),

diseases as (

    select distinct {{ leak_joined_words(
            'list_filter(' ~ leak_folded_words('labels.label')
            ~ ', lambda w: not list_contains(noise.words, w))'
        ) }} as words_in_order
    from labels
    cross join noise

),

-- A group that is named after a disease says nothing about its drugs.
names_searched as (

    select names_keyed.*
    from names_keyed
    anti join ambiguous
        on names_keyed.words_in_order = ambiguous.words_in_order
    left join diseases
        on names_keyed.words_in_order = diseases.words_in_order
    where diseases.words_in_order is null
        or not names_keyed.is_group

),

{{ leak_stem_lines() }},

{{ leak_line_windows() }},

lines_naming as (

    select distinct
        windows.line_number,
        names_searched.cui_id,
        concat(names_searched.name, ' (', names_searched.atc_code, ')') as class_named
    from windows
    inner join names_searched
        on windows.words_in_order = names_searched.words_in_order
    where windows.word_before is null
        or names_searched.not_after is null
        or windows.word_before <> names_searched.not_after

),

named as (

    select
        templates.template_key,
        min(concat(stem_lines.place, ': ', lines_naming.class_named)) as evidence
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
        'L10' as rule_id,
        'template' as scope,
        template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        evidence
    from named

)

select * from found
