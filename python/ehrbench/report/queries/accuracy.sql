select
    source,
    model,
    mode,
    task,
    n_options,
    n,
    n_templates,
    n_clusters,
    accuracy,
    accuracy_low,
    accuracy_high,
    chance,
    status
from rpt_accuracy
order by
    mode,
    source <> 'all',
    source,
    model,
    task,
    n_options
