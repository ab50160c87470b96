with

prompts as (

    select * from {{ ref('fct_prompts') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

copied_sources as (

    select * from {{ ref('int_copied_sources') }}

),

eligible as (

    select
        prompts.prompt_key,
        prompts.arm,
        prompts.n_options as n_letters,
        items.item_id,
        items.format,
        items.template_key,
        items.task,
        items.n_options,
        copied_sources.source is not null as is_copy
    from prompts
    inner join items
        on prompts.item_id = items.item_id
    left join copied_sources
        on items.source = copied_sources.source
    where items.released
        and items.in_subset

),

-- A prompt is asked once. Where two arms read alike it is the standard arm's, where two sources do
-- that of the one that pooled figures count.
asked_once as (

    select *
    from eligible
    qualify row_number() over (
        partition by prompt_key
        order by
            case when arm = 'standard' then 0 else 1 end,
            arm,
            is_copy,
            item_id
    ) = 1

),

-- All arms of an item are drawn by one key, so that a capped plan compares them on the same items.
standard_prompts as (

    select
        item_id,
        prompt_key
    from prompts
    where arm = 'standard'

),

answer_prompts as (

    select
        asked_once.prompt_key,
        asked_once.item_id,
        asked_once.format,
        asked_once.arm,
        coalesce(standard_prompts.prompt_key, asked_once.prompt_key) as draw_key,
        asked_once.template_key,
        asked_once.task,
        asked_once.n_options,
        asked_once.n_letters,
        asked_once.is_copy
    from asked_once
    left join standard_prompts
        on asked_once.item_id = standard_prompts.item_id

)

select * from answer_prompts
