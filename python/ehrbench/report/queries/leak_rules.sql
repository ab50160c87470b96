select
    rule_id,
    name,
    question,
    kind,
    policy,
    assessed,
    reason,
    n_checked,
    n_found,
    rate,
    allowed_rate,
    rate <= coalesce(allowed_rate, 0) as is_within
from rpt_leak_rules
order by rule_id
