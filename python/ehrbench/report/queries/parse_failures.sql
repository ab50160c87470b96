-- Replies by how they were read, in the standard arm.
select
    model,
    mode,
    arm,
    parse_status,
    is_failure,
    n_with_status,
    n,
    n_clusters,
    rate,
    rate_low,
    rate_high
from rpt_parse_failures
where n > 0
    and n_with_status > 0
order by
    model,
    mode,
    arm,
    parse_status
