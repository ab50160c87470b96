-- One row per template with items x option of its largest item: rank 0 is the answer, the others are
-- its distractors. An item with n options shows the ranks below n. For leak rules and baselines.
with

templates as (

    select * from {{ ref('int_templates') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

variants as (

    select * from {{ ref('int_item_variants') }}

),

templates_asked as (

    select
        template_key,
        max(n_options) as max_options
    from variants
    group by template_key

),

options as (

    select
        templates.template_key,
        cast(0 as integer) as rank,
        templates.answer_option_key as option_key,
        templates.answer_cui_id as cui_id
    from templates
    inner join templates_asked
        on templates.template_key = templates_asked.template_key

    union all

    select
        distractors.template_key,
        distractors.rank,
        distractors.option_key,
        distractors.cui_id
    from distractors
    inner join templates_asked
        on distractors.template_key = templates_asked.template_key
        and distractors.rank < templates_asked.max_options

),

described as (

    select
        templates.template_number,
        options.template_key,
        templates.pool_number,
        templates.source,
        templates.task,
        templates.person_group,
        templates.answer_event_type as event_type,
        options.rank,
        options.rank = 0 as is_gold,
        options.option_key,
        options.cui_id
    from options
    inner join templates
        on options.template_key = templates.template_key

)

select * from described
