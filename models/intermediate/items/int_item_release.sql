-- One row per kept item: whether it may be released, and the reason when it may not. A question
-- that reads alike for several answers has no one answer; every other candidate is released, as
-- long as no leak rule says otherwise.
with

rendered as (

    select * from {{ ref('int_rendered_items') }}

),

templates as (

    select * from {{ ref('int_templates') }}

),

answers_counted as (

    select
        rendered.item_id,
        count(distinct templates.answer_option_key) as n_answers
    from rendered
    inner join templates
        on rendered.template_key = templates.template_key
    group by all

),

decided as (

    select
        item_id,
        n_answers = 1 as released,
        case when n_answers > 1 then 'several_answers' end as reason
    from answers_counted

)

select * from decided
