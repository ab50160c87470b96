select
    scope,
    basis,
    n_templates,
    n_clusters,
    design_effect,
    n_effective,
    standard_error,
    detectable_difference,
    declared_difference,
    n_needed,
    status
from rpt_power
order by
    scope <> 'overall',
    scope,
    basis
