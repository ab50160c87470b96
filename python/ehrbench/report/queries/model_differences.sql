select
    mode,
    first_model,
    second_model,
    n,
    n_templates,
    n_clusters,
    difference,
    difference_low,
    difference_high,
    p_value,
    p_holm,
    status
from rpt_model_differences
order by
    mode,
    first_model,
    second_model
