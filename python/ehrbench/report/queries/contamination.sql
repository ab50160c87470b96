select
    model,
    mode,
    probe,
    source,
    figure,
    n,
    n_asked,
    n_templates,
    n_clusters,
    estimate,
    estimate_low,
    estimate_high,
    status,
    reason
from rpt_contamination
where n > 0
order by
    probe,
    source,
    model,
    mode,
    figure
