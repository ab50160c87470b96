select
    figure,
    task,
    generator,
    versus,
    mode,
    n,
    n_asked,
    n_clusters,
    estimate,
    estimate_low,
    estimate_high,
    figure in ('accept_rate', 'kb_pass_rate', 'item_overlap') as is_share,
    status,
    reason
from rpt_generator_arms
order by
    figure,
    task,
    generator,
    versus,
    mode
