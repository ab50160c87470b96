-- Answered of asked, per stage, model, mode and arm; what nobody planned is counted apart.
select
    stage,
    model,
    mode,
    arm,
    cast(coalesce(sum(n) filter (where status <> 'orphaned'), 0) as bigint) as asked,
    cast(coalesce(sum(n) filter (where status = 'done'), 0) as bigint) as answered,
    cast(coalesce(sum(n) filter (where status = 'missing'), 0) as bigint) as missing,
    cast(coalesce(sum(n) filter (where status = 'waiting'), 0) as bigint) as waiting,
    cast(coalesce(sum(n) filter (where status = 'failed'), 0) as bigint) as failed,
    cast(coalesce(sum(n) filter (where status = 'no_weights'), 0) as bigint) as no_weights,
    cast(coalesce(sum(n) filter (where status = 'no_vectors'), 0) as bigint) as no_vectors,
    cast(coalesce(sum(n) filter (where status = 'orphaned'), 0) as bigint) as orphaned
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
