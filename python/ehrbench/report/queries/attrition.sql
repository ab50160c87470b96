-- From raw rows to released items; what each leak rule costs stands in leak_cost.
select
    source,
    step_number,
    unit,
    step,
    n
from rpt_cohort_attrition
where step_number < 1000
    or step_number >= 1999
order by
    source,
    step_number
