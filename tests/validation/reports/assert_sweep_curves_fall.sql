-- A curve whose points accept subsets never rises: more articles, a narrower level, a smaller share
-- of denials or a higher lift cannot let more through. Positions run from 1 without a gap.
with

points as (

    select
        *,
        lag(n_accepted) over along_the_curve as n_accepted_before,
        lag(n_kb_pass) over along_the_curve as n_kb_pass_before,
        row_number() over along_the_curve as place
    from {{ ref('rpt_yield_sweep') }}
    window along_the_curve as (
        partition by policy, threshold, source, task, generator
        order by position
    )

)

select
    policy,
    threshold,
    position,
    source,
    task,
    generator,
    n_accepted_before,
    n_accepted
from points
where position <> place
    or (is_nested and (n_accepted > n_accepted_before or n_kb_pass > n_kb_pass_before))
