select
    scope,
    basis,
    n_templates,
    n_clusters,
    n_effective,
    detectable_difference,
    declared_difference,
    n_needed,
    status
from rpt_power
order by
    scope <> 'overall',
    scope,
    basis
