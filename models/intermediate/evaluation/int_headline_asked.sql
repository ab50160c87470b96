-- Requests that the plan asks of what int_headline_scores counts, answered or not. Grain: one row per
-- model × mode × task × source × option count.
with

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and is_headline

),

asked as (

    select
        model,
        mode,
        task,
        source,
        n_options,
        cast(count(*) as integer) as n_asked
    from requests
    group by
        model,
        mode,
        task,
        source,
        n_options

)

select * from asked
