select
    model,
    mode,
    arm,
    figure,
    n_runs,
    n_runs_asked,
    n,
    n_asked,
    n_templates,
    n_clusters,
    estimate,
    estimate_low,
    estimate_high,
    figure not like 'variance%' as is_share,
    status
from rpt_run_noise
order by
    model,
    mode,
    arm,
    figure
