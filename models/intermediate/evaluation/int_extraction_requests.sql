with

run_plan as (

    select * from {{ ref('run_plan') }}

),

models as (

    select * from {{ ref('models') }}

),

extraction_prompts as (

    select
        prompt_key,
        min(prompt_task) as prompt_task
    from {{ ref('int_extraction_prompts') }}
    group by prompt_key

),

{{ plan_requests('extraction_prompts', 'extraction', 'prompt_task', carry=['prompt_task']) }}

select * from planned
