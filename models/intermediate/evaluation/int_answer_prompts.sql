with

prompts as (

    select * from {{ ref('fct_prompts') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

eligible as (

    select
        prompts.prompt_key,
        min(items.item_id) as item_id,
        min(prompts.arm) as arm
    from prompts
    inner join items
        on prompts.item_id = items.item_id
    where prompts.format = 'mcq'
        and prompts.arm in ('{{ var("planned_arms") | join("', '") }}')
        and items.released
        and items.in_subset
    group by prompts.prompt_key

),

answer_prompts as (

    select
        eligible.prompt_key,
        eligible.item_id,
        eligible.arm,
        items.template_key,
        items.task,
        items.n_options
    from eligible
    inner join items
        on eligible.item_id = items.item_id

)

select * from answer_prompts
