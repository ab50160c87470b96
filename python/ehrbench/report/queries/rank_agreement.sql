select
    mode,
    kind,
    scope,
    n_judges,
    n_models,
    n,
    n_asked,
    w,
    w_low,
    w_high,
    p_value,
    n_separated,
    n_inversions,
    status,
    reason
from rpt_rank_agreement
where n_asked > 0
order by
    mode,
    kind,
    scope
