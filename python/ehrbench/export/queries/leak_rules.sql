-- Leak rules by what they decide, and how many could be asked.
select
    policy,
    count(*) as n_rules,
    count(*) filter (where assessed) as n_assessed
from rpt_leak_rules
group by policy
order by policy
