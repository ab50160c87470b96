-- Templates whose scenario or question holds the label of the answer as whole words.
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

answers as (

    select
        labels.option_key,
        labels.label,
        {{ leak_words('labels.label') }} as label_words
    from labels
    where exists (
        select 1 from templates
        where templates.answer_option_key = labels.option_key
    )

),

stems as (

    select
        templates.template_key,
        templates.answer_option_key,
        'scenario' as place,
        texts.scenario_words as words
    from templates
    inner join texts
        on templates.template_key = texts.template_key

    union all

    select
        templates.template_key,
        templates.answer_option_key,
        concat('question ', questions.format, ' ', questions.variant) as place,
        questions.question_words as words
    from templates
    inner join questions
        on templates.task = questions.task
        and templates.answer_event_type = questions.answer_type

),

named as (

    select
        stems.template_key,
        min(concat(stems.place, ': ', answers.label)) as evidence
    from stems
    inner join answers
        on stems.answer_option_key = answers.option_key
    where contains(stems.words, answers.label_words)
    group by stems.template_key

),

found as (

    select
        'L01' as rule_id,
        'template' as scope,
        template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        evidence
    from named

)

select * from found
