select
    measure,
    source,
    task,
    method,
    verdict,
    n_frame,
    n_drawn,
    n_rated,
    estimate,
    estimate_low,
    estimate_high,
    n_planned
from rpt_audit_estimates
where n_rated > 0
order by
    measure_order,
    measure,
    source,
    task,
    method
