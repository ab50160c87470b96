-- A pass has no reason, everything else has one.
select
    triple_id,
    check_name,
    status,
    reason_code
from {{ ref('fct_triple_checks') }}
where (status = 'pass') is distinct from (reason_code is null)
