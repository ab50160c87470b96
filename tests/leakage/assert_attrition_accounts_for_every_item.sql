-- Steps of the attrition that differ from what the items say, per source: templates that give
-- items, items, released items, what each rule holds back, what it alone does, and what stays back
-- with its block.
with

steps as (

    select * from {{ ref('rpt_cohort_attrition') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

quality as (

    select
        source,
        released,
        reason,
        concat(',', concat_ws(',', fail_rules, quarantine_rules), ',') as rules
    from {{ ref('rpt_item_quality') }}

),

rules as (

    select
        rule_id,
        1000 + 10 * cast(substring(rule_id, 2) as integer) as step_base
    from {{ ref('rpt_leak_rules') }}
    where kind = 'item'
        and policy in ('fail', 'quarantine')

),

counted as (

    select
        source,
        (
            select max(step_number)
            from steps
            where unit = 'triples'
        ) as step_number,
        count(distinct template_key) as n
    from items
    group by source

    union all

    select
        source,
        642 as step_number,
        count(*) as n
    from items
    group by source

    union all

    select
        source,
        2002 as step_number,
        count(*) as n
    from items
    where released
    group by source

    union all

    select
        source,
        1999 as step_number,
        count(*) as n
    from quality
    where reason = 'block_broken'
    group by source

    union all

    select
        quality.source,
        rules.step_base + 3 as step_number,
        count(*) as n
    from quality
    inner join rules
        on contains(quality.rules, concat(',', rules.rule_id, ','))
    group by
        quality.source,
        rules.step_base

    union all

    select
        quality.source,
        rules.step_base + 4 as step_number,
        count(*) as n
    from quality
    inner join rules
        on quality.rules = concat(',', rules.rule_id, ',')
    group by
        quality.source,
        rules.step_base

)

select
    coalesce(counted.source, steps.source) as source,
    coalesce(counted.step_number, steps.step_number) as step_number,
    counted.n,
    steps.n as n_said
from counted
full outer join steps
    on counted.source = steps.source
    and counted.step_number = steps.step_number
where (steps.step_number is null or counted.step_number is not null
        or steps.step_number in (642, 2002)
        or (steps.step_number > 1000 and steps.unit = 'items'))
    and coalesce(counted.n, 0) is distinct from steps.n
