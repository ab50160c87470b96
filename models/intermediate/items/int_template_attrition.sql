-- One row per accepted triple with the step at which it was lost (null step: it gave items), so
-- that accepted triples = lost + templates with items, always.
with

candidates as (

    select * from {{ ref('int_template_candidates') }}

),

capped as (

    select * from {{ ref('int_templates_capped') }}

),

balanced as (

    select * from {{ ref('int_templates_balanced') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

rendered as (

    select * from {{ ref('int_rendered_items') }}

),

distractors_counted as (

    select
        template_key,
        count(*) as n_distractors
    from distractors
    group by all

),

items_counted as (

    select
        template_key,
        count(*) filter (where is_kept) as n_items,
        count(*) filter (where not is_kept) as n_items_alike
    from rendered
    group by all

),

attrition as (

    select
        candidates.triple_id,
        candidates.template_key,
        candidates.source,
        candidates.task,
        candidates.answer_event_type,
        case
            when candidates.reason is not null then 'template'
            when coalesce(capped.cap_reason, balanced.cap_reason) is not null then 'cap'
            when items_counted.template_key is null then 'distractors'
            when items_counted.n_items = 0 then 'items'
        end as step,
        case
            when candidates.reason is not null then candidates.reason
            when coalesce(capped.cap_reason, balanced.cap_reason) is not null
                then coalesce(capped.cap_reason, balanced.cap_reason)
            when items_counted.template_key is null then 'too_few_distractors'
            when items_counted.n_items = 0 then 'renders_like_another_template'
        end as reason,
        candidates.reason_detail,
        cast(coalesce(distractors_counted.n_distractors, 0) as integer) as n_distractors,
        cast(coalesce(items_counted.n_items, 0) as integer) as n_items,
        cast(coalesce(items_counted.n_items_alike, 0) as integer) as n_items_alike
    from candidates
    left join capped
        on candidates.template_key = capped.template_key
    left join balanced
        on candidates.template_key = balanced.template_key
    left join distractors_counted
        on candidates.template_key = distractors_counted.template_key
    left join items_counted
        on candidates.template_key = items_counted.template_key

)

select * from attrition
