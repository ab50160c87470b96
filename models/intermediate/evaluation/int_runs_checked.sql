{{ config(materialized='view') }}

with

runs as (

    select * from {{ ref('stg_completions__runs') }}

),

checked as (

    select
        *,
        case
            when schema_version is distinct from {{ var('completions_schema_version') }}
                then 'unknown_schema_version'
            when run_id is null or mode is null then 'no_run_id'
            -- The same file in two folders; the later state of a run counts.
            when row_number() over (
                partition by run_id, mode, schema_version
                order by
                    n_asked desc,
                    wall_ms desc,
                    {{ key(['stage', 'model', 'revision', 'engine', 'parameters']) }}
            ) > 1 then 'repeated_run'
            when coalesce(wall_ms, -1) < 0 or coalesce(n_asked, -1) < 0 then 'no_counts'
        end as set_aside_reason
    from runs

)

select * from checked
