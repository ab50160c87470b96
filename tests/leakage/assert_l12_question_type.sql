-- Released items whose question names a class of the answers of its type, or another type and not
-- the answer's own. Read from the wordings that items show.
with

questions as (

    select
        templates.answer_event_type as event_type,
        {{ leak_words('items.question') }} as question_words,
        min(items.item_id) as item_id
    from {{ ref('dim_items') }} as items
    inner join {{ ref('fct_templates') }} as templates
        on items.template_key = templates.template_key
    where items.released
    group by all

),

named as (

    select
        questions.item_id,
        trim(lexicon.phrase) as said
    from questions
    inner join {{ ref('class_lexicon') }} as lexicon
        on questions.event_type = lexicon.event_type
    where regexp_matches(
        questions.question_words, concat(rtrim({{ leak_words('lexicon.phrase') }}), 's? '))

),

types_named as (

    select
        questions.item_id,
        min(types.event_type) as said
    from questions
    inner join {{ ref('event_type_words') }} as types
        on regexp_matches(
            questions.question_words,
            concat(' ', string_split(trim({{ leak_words('types.word') }}), ' ')[1], 's? '))
    group by questions.item_id
    having not bool_or(questions.event_type = types.event_type)

)

select * from named
union
select * from types_named
