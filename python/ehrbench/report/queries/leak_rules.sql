select
    rule_id,
    name,
    question,
    kind,
    tasks,
    policy,
    assessed,
    reason,
    n_checked,
    n_found,
    rate,
    allowed_rate
from rpt_leak_rules
order by rule_id
