select
    sweep.policy,
    sweep.threshold,
    sweep.position,
    sweep.threshold_value,
    sweep.is_policy_point,
    sweep.source,
    sweep.task,
    sweep.generator,
    sweep.n_triples,
    sweep.n_accepted,
    sweep.accepted_share,
    sweep.null_n,
    sweep.null_pass_rate,
    sweep.pass_rate,
    sweep.enrichment,
    sweep.status,
    yields.n_persons,
    case when sweep.is_policy_point then yields.accepted_share_low end as accepted_share_low,
    case when sweep.is_policy_point then yields.accepted_share_high end as accepted_share_high
from rpt_yield_sweep as sweep
left join rpt_yield_by_policy as yields
    on sweep.policy = yields.policy
    and sweep.source = yields.source
    and sweep.task = yields.task
    and sweep.generator = yields.generator
where sweep.threshold <> 'policy'
order by
    sweep.policy,
    sweep.threshold,
    sweep.source,
    sweep.task,
    sweep.generator,
    sweep.position
