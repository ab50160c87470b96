-- What does each leak rule cost? Per source and rule that holds items back: the templates and items
-- it touches, the share of all, and those that no other rule would have held back (alone).
-- Run with: dbt show --select what_each_leak_rule_costs --limit -1
with

steps as (

    select * from {{ ref('rpt_cohort_attrition') }}

),

rules as (

    select
        rule_id,
        name,
        policy,
        question,
        1000 + 10 * cast(substring(rule_id, 2) as integer) as step_base
    from {{ ref('rpt_leak_rules') }}
    where kind = 'item'

),

candidates as (

    select
        source,
        n as n_items
    from steps
    where step_number = 642

)

select
    steps.source,
    rules.rule_id,
    rules.name,
    rules.policy,
    max(steps.n) filter (where steps.step_number = step_base + 1) as n_templates,
    max(steps.n) filter (where steps.step_number = step_base + 2) as n_templates_alone,
    max(steps.n) filter (where steps.step_number = step_base + 3) as n_items,
    max(steps.n) filter (where steps.step_number = step_base + 4) as n_items_alone,
    cast(max(steps.n) filter (where steps.step_number = step_base + 3)
        / nullif(max(candidates.n_items), 0) as decimal(9, 6)) as share_of_items
from steps
inner join rules
    on steps.step_number between rules.step_base + 1 and rules.step_base + 4
left join candidates
    on steps.source = candidates.source
group by
    steps.source,
    rules.rule_id,
    rules.name,
    rules.policy
order by
    steps.source,
    n_items_alone desc,
    rules.rule_id
