select
    model,
    mode,
    n_context,
    n,
    n_asked,
    n_templates,
    n_clusters,
    accuracy,
    accuracy_low,
    accuracy_high,
    change,
    change_low,
    change_high,
    status
from rpt_context_size
order by
    mode,
    model,
    n_context
