select
    model,
    mode,
    baseline,
    n,
    n_templates,
    n_clusters,
    difference,
    difference_low,
    difference_high,
    p_holm,
    verdict,
    status
from rpt_over_baseline
order by
    mode,
    model,
    baseline
