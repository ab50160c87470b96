select
    model,
    mode,
    first_source,
    second_source,
    n_first,
    n_second,
    n_clusters,
    accuracy_first,
    accuracy_first_low,
    accuracy_first_high,
    accuracy_second,
    accuracy_second_low,
    accuracy_second_high,
    difference,
    difference_low,
    difference_high,
    p_holm,
    status,
    reason
from rpt_source_consistency
where status <> 'not_assessed'
order by
    mode,
    model,
    first_source,
    second_source
