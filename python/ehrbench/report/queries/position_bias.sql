select
    model,
    mode,
    n_options,
    figure,
    place,
    n,
    n_asked,
    n_templates,
    n_clusters,
    estimate,
    estimate_low,
    estimate_high,
    uniform,
    status,
    reason
from rpt_position_bias
where n > 0
order by
    model,
    mode,
    n_options,
    figure,
    place
