{{ config(materialized='view') }}

with

completions as (

    select * from {{ ref('stg_completions__completions') }}

),

numbered as (

    select
        *,
        -- A crash while shards are compacted may leave a row twice.
        row_number() over (
            partition by request_key, attempt, schema_version
            order by
                {{ key(['stage', 'model', 'revision', 'engine', 'text', 'finish_reason',
                    'option_logprobs', 'error', 'latency_ms', 'prompt_tokens',
                    'completion_tokens']) }}
        ) as copy_number
    from completions

),

checked as (

    select
        *,
        case
            when schema_version is distinct from {{ var('completions_schema_version') }}
                then 'unknown_schema_version'
            when request_key is null then 'no_request_key'
            when attempt is null then 'no_attempt'
            when copy_number > 1 then 'repeated_attempt'
        end as set_aside_reason
    from numbered

)

select * from checked
