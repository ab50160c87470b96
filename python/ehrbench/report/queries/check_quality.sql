-- Synthetic data only: what the checks find of what was planted.
select
    check_name,
    policy,
    source,
    task,
    detects,
    n_true_pos,
    n_false_pos,
    n_false_neg,
    precision,
    precision_low,
    precision_high,
    recall,
    recall_low,
    recall_high
from fct_check_quality
order by
    check_name,
    policy,
    source,
    task
