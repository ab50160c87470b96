-- Templates that some wording of their question singles out: it names a class of answers (a phrase
-- of the class lexicon for the type that is asked) or asks for another type than the answer has.
-- Whether all options are of one type is L17's question.
with

templates as (

    select * from {{ ref('int_templates') }}

),

questions as (

    select * from {{ ref('int_question_texts') }}

),

lexicon as (

    select distinct
        event_type,
        phrase
    from {{ ref('class_lexicon') }}

),

type_words as (

    select * from {{ ref('event_type_words') }}

),

-- The first word of a type's name: "medication" of "Medication ordered".
types_named as (

    select
        event_type,
        list_extract({{ leak_folded_words('word') }}, 1) as type_word
    from type_words

),

questions_folded as (

    select
        task,
        answer_type,
        concat(format, ' ', variant) as wording,
        {{ leak_folded_words('question') }} as words
    from questions

),

types_counted as (

    select
        questions_folded.task,
        questions_folded.answer_type,
        questions_folded.wording,
        bool_or(questions_folded.answer_type = types_named.event_type) as names_own,
        min(types_named.type_word) as type_word
    from questions_folded
    inner join types_named
        on list_contains(questions_folded.words, types_named.type_word)
    group by
        questions_folded.task,
        questions_folded.answer_type,
        questions_folded.wording

),

wordings_found as (

    select
        questions_folded.task,
        questions_folded.answer_type,
        concat('question ', questions_folded.wording, ': ', lexicon.phrase) as said
    from questions_folded
    inner join lexicon
        on questions_folded.answer_type = lexicon.event_type
        and contains(
            concat(' ', array_to_string(questions_folded.words, ' '), ' '),
            concat(' ', array_to_string({{ leak_folded_words('lexicon.phrase') }}, ' '), ' '))

    union

    select
        task,
        answer_type,
        concat('question ', wording, ': asks for ', type_word) as said
    from types_counted
    where not names_own

),

said_first as (

    select
        task,
        answer_type,
        min(said) as said
    from wordings_found
    group by
        task,
        answer_type

),

found as (

    select
        'L12' as rule_id,
        'template' as scope,
        templates.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        said_first.said as evidence
    from templates
    inner join said_first
        on templates.task = said_first.task
        and templates.answer_event_type = said_first.answer_type

)

select * from found
