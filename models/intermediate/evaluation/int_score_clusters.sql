with

scores as (

    select * from {{ ref('fct_scores') }}
    where arm = '{{ var("headline_arm") }}'

),

clusters as (

    select
        model,
        mode,
        task,
        n_options,
        source,
        person_group,
        cast(count(*) as integer) as n,
        cast(sum(correct) as integer) as n_correct,
        cast(sum(1 - parsed) as integer) as n_not_parsed
    from scores
    group by
        model,
        mode,
        task,
        n_options,
        source,
        person_group

)

select * from clusters
