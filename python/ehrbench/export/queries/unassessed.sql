-- Leak rules that were not asked, each with its reason.
select
    rule_id,
    question,
    reason
from rpt_leak_rules
where not assessed
order by rule_id
