-- A point of a yield curve with the thresholds of its policy has the yield of the policy, and every
-- cell of rpt_yield_by_policy has such a point.
with

yields as (

    select
        policy,
        source,
        task,
        generator,
        n_triples,
        n_accepted,
        n_kb_accepted
    from {{ ref('rpt_yield_by_policy') }}

),

points as (

    select
        policy,
        source,
        task,
        generator,
        threshold,
        position,
        n_triples,
        n_accepted,
        n_kb_pass
    from {{ ref('rpt_yield_sweep') }}
    where is_policy_point

)

select
    coalesce(yields.policy, points.policy) as policy,
    coalesce(yields.source, points.source) as source,
    coalesce(yields.task, points.task) as task,
    coalesce(yields.generator, points.generator) as generator,
    points.threshold,
    points.position,
    yields.n_accepted,
    points.n_accepted as n_accepted_in_sweep
from yields
full outer join points
    on yields.policy = points.policy
    and yields.source = points.source
    and yields.task = points.task
    and yields.generator = points.generator
where yields.n_triples is distinct from points.n_triples
    or yields.n_accepted is distinct from points.n_accepted
    or yields.n_kb_accepted is distinct from points.n_kb_pass
