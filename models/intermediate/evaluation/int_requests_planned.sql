{{ config(materialized='view') }}

with

extraction_requests as (

    select * from {{ ref('int_extraction_requests') }}

),

extraction_prompts as (

    select * from {{ ref('int_extraction_prompts') }}

),

answer_requests as (

    select * from {{ ref('int_answer_requests') }}
    where not is_waiting

),

followups as (

    select * from {{ ref('int_followup_prompts') }}

),

prompts as (

    select * from {{ ref('fct_prompts') }}

),

extraction_payloads as (

    select
        prompt_key,
        min(messages) as messages,
        min(json_schema) as json_schema
    from extraction_prompts
    group by prompt_key

),

answer_payloads as (

    select
        requests.request_key,
        coalesce(followups.messages, prompts.messages) as messages,
        case when requests.mode = 'cloze' then prompts.options end as options
    from answer_requests as requests
    left join followups
        on requests.prompt_key = followups.prompt_key
    left join prompts
        on requests.prompt_key = prompts.prompt_key
        and requests.item_id = prompts.item_id
        and requests.arm = prompts.arm

),

united as (

    select
        requests.request_key,
        requests.stage,
        requests.prompt_key,
        requests.model,
        requests.revision,
        requests.engine,
        requests.mode,
        requests.repetition,
        requests.sampling,
        requests.max_attempts,
        requests.plan_rank,
        payloads.messages,
        payloads.json_schema,
        cast(null as integer) as n_options,
        cast(null as varchar) as options,
        requests.prompt_task as prefix_group,
        cast(null as varchar) as arm
    from extraction_requests as requests
    inner join extraction_payloads as payloads
        on requests.prompt_key = payloads.prompt_key
    union all
    select
        requests.request_key,
        requests.stage,
        requests.prompt_key,
        requests.model,
        requests.revision,
        requests.engine,
        requests.mode,
        requests.repetition,
        requests.sampling,
        requests.max_attempts,
        requests.plan_rank,
        payloads.messages,
        cast(null as varchar) as json_schema,
        requests.n_letters as n_options,
        payloads.options,
        -- Items of one template share their scenario, so a prefix cache serves them together.
        concat_ws('|', requests.task, requests.template_key) as prefix_group,
        requests.arm
    from answer_requests as requests
    inner join answer_payloads as payloads
        on requests.request_key = payloads.request_key

)

select * from united
