select
    gates.baseline,
    gates.pick,
    gates.model,
    gates.task,
    gates.gate,
    gates.status,
    gates.reason,
    gates.n_templates,
    gates.n_clusters,
    gates.lift,
    gates.lift_low,
    gates.lift_high,
    gates.p_holm
from rpt_surface_gates as gates
order by
    try_cast(regexp_extract(gates.baseline, '[0-9]+') as integer),
    gates.baseline,
    gates.pick,
    gates.model,
    gates.task
