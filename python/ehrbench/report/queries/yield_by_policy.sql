select *
from rpt_yield_by_policy
order by
    source,
    task,
    generator,
    policy
