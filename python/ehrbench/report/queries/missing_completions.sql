-- Answered of asked, per stage, model, mode and arm; what nobody planned is counted apart.
select
    stage,
    model,
    mode,
    arm,
    cast(coalesce(sum(n) filter (where status <> 'orphaned'), 0) as bigint) as n_asked,
    cast(coalesce(sum(n) filter (where status = 'done'), 0) as bigint) as n_answered,
    cast(coalesce(sum(n) filter (where status = 'missing'), 0) as bigint) as n_missing,
    cast(coalesce(sum(n) filter (where status = 'waiting'), 0) as bigint) as n_waiting,
    cast(coalesce(sum(n) filter (where status = 'failed'), 0) as bigint) as n_failed,
    cast(coalesce(sum(n) filter (where status = 'no_weights'), 0) as bigint) as n_no_weights,
    cast(coalesce(sum(n) filter (where status = 'no_vectors'), 0) as bigint) as n_no_vectors,
    cast(coalesce(sum(n) filter (where status = 'orphaned'), 0) as bigint) as n_orphaned
from rpt_missing_completions
where status <> 'not_planned'
group by
    stage,
    model,
    mode,
    arm
order by
    stage desc,
    model,
    mode,
    arm
