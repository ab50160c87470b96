{{ config(materialized='view') }}

with

planned as (

    select * from {{ ref('int_requests_planned') }}

),

latest as (

    select * from {{ ref('int_completions_latest') }}

),

pending as (

    select
        planned.request_key,
        planned.stage,
        planned.model,
        planned.mode,
        planned.repetition,
        planned.prompt_key,
        planned.prefix_group,
        planned.messages,
        planned.json_schema,
        planned.n_options,
        planned.options,
        planned.sampling,
        coalesce(latest.n_attempts, 0) as n_attempts,
        planned.max_attempts,
        planned.plan_rank,
        planned.arm
    from planned
    left join latest
        on planned.request_key = latest.request_key
    where planned.engine <> 'sql'
        and coalesce(not latest.is_success, true)
        and coalesce(not latest.is_final, true)
        and coalesce(latest.n_attempts, 0) < planned.max_attempts

)

select * from pending
