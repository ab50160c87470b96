select
    model,
    mode,
    task,
    n,
    n_asked,
    n_templates,
    n_templates_valid,
    n_clusters,
    accuracy,
    accuracy_low,
    accuracy_high,
    accuracy_rated,
    accuracy_rated_low,
    accuracy_rated_high,
    status
from rpt_audit_accuracy
where n_asked > 0
order by
    mode,
    task <> 'all',
    task,
    model
