select
    results.source,
    results.draw,
    results.task,
    results.n_options,
    results.baseline,
    results.pick,
    results.model,
    baselines.question,
    baselines.gate,
    results.n,
    results.n_clusters,
    results.accuracy,
    results.accuracy_low,
    results.accuracy_high,
    results.chance,
    results.lift,
    results.lift_low,
    results.lift_high
from rpt_surface_baselines as results
left join surface_baselines as baselines
    on results.baseline = baselines.baseline
    and results.pick = baselines.pick
order by
    results.source <> 'all',
    results.source,
    results.draw,
    results.task,
    results.n_options,
    try_cast(regexp_extract(results.baseline, '[0-9]+') as integer),
    results.baseline,
    results.pick,
    results.model
