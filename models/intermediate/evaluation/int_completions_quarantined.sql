with

completions as (

    select * from {{ ref('int_completions_checked') }}

),

embeddings as (

    select * from {{ ref('int_embeddings_checked') }}

),

runs as (

    select * from {{ ref('int_runs_checked') }}

),

set_aside as (

    select
        'completions.completions' as source_table,
        set_aside_reason as reason
    from completions
    union all
    select
        'completions.embeddings' as source_table,
        set_aside_reason as reason
    from embeddings
    union all
    select
        'completions.runs' as source_table,
        set_aside_reason as reason
    from runs

),

quarantined as (

    select
        source_table,
        reason,
        count(*) as n_rows
    from set_aside
    where reason is not null
    group by
        source_table,
        reason

)

select * from quarantined
