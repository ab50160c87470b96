-- What the gates say of the surface baselines, counted.
select
    gate,
    status,
    reason,
    count(*) as n_baselines
from rpt_surface_gates
group by
    gate,
    status,
    reason
order by
    gate,
    status,
    reason
