-- What codes mean, from the seeds that define them.
select 'check' as kind, check_name as code, comment as meaning
from validation_checks
union all
select 'reason', check_name || ' ' || reason_code, meaning
from validation_reasons
union all
select 'verdict_reason', reason_code, min(meaning)
from validation_reasons
where in_verdicts
group by reason_code
union all
select 'unmapped', reason, meaning
from mapping_reasons
union all
select 'policy', policy, comment
from evidence_policies
union all
select 'match', match_level, comment
from match_levels
union all
select 'rule', rule_id, question
from leak_rules
union all
select 'rule_name', rule_id, replace(name, '_', ' ')
from leak_rules
union all
select 'rule_policy', rule_id, policy
from leak_rules
union all
select 'arm', arm, shows
from prompt_arms
order by
    kind,
    code
