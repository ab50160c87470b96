-- Templates and items that each rule holds back, over all sources, and those it alone holds back.
with

steps as (

    select * from rpt_cohort_attrition

),

rules as (

    select
        rule_id,
        1000 + 10 * cast(substring(rule_id, 2) as integer) as step_base
    from rpt_leak_rules
    where kind = 'item'

)

select
    rules.rule_id,
    cast(sum(steps.n) filter (where steps.step_number = rules.step_base + 1) as bigint)
        as n_templates,
    cast(sum(steps.n) filter (where steps.step_number = rules.step_base + 3) as bigint) as n_items,
    cast(sum(steps.n) filter (where steps.step_number = rules.step_base + 4) as bigint)
        as n_items_alone
from rules
inner join steps
    on steps.step_number between rules.step_base + 1 and rules.step_base + 4
group by rules.rule_id
order by rules.rule_id
