with

completions as (

    select * from {{ ref('int_completions_checked') }}

),

quarantined as (

    select
        'completions.completions' as source_table,
        set_aside_reason as reason,
        count(*) as n_rows
    from completions
    where set_aside_reason is not null
    group by set_aside_reason

)

select * from quarantined
