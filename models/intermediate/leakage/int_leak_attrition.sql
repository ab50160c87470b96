-- One row per source x step from accepted triples to released items: what each reason, each cap and
-- each leak rule that holds items back costs. A rule's four rows count the templates and items it
-- touches, and those that no other rule would have held back.
with

sources as (

    select source
    from {{ ref('int_source_patients') }}
    group by source

),

steps as (

    select * from {{ ref('attrition_steps') }}

),

attrition as (

    select * from {{ ref('int_template_attrition') }}

),

items as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

release as (

    select * from {{ ref('int_item_release') }}

),

findings as (

    select * from {{ ref('int_item_findings') }}

),

rules as (

    select
        rule_id,
        name,
        cast(substring(rule_id, 2) as integer) as rule_number
    from {{ ref('leak_rules') }}
    where kind = 'item'
        and policy in ('fail', 'quarantine')

),

triples_counted as (

    select
        source,
        reason,
        count(*) as n,
        sum(n_items + n_items_alike) as n_rendered,
        sum(n_items) as n_kept
    from attrition
    group by
        source,
        reason

),

triple_totals as (

    select
        source,
        sum(n) as n_accepted,
        sum(n_rendered) as n_rendered,
        sum(n_kept) as n_kept
    from triples_counted
    group by source

),

losses as (

    select
        sources.source,
        steps.step_number,
        steps.unit,
        steps.step,
        coalesce(triple_totals.n_accepted, 0) - sum(coalesce(triples_counted.n, 0)) over (
            partition by sources.source
            order by steps.step_number
        ) as n
    from sources
    cross join steps
    left join triple_totals
        on sources.source = triple_totals.source
    left join triples_counted
        on sources.source = triples_counted.source
        and steps.measure = triples_counted.reason
    where steps.part = 'loss'

),

held_back as (

    select
        findings.item_id,
        findings.rule_id,
        count(*) over (partition by findings.item_id) = 1 as is_alone
    from findings
    inner join rules
        on findings.rule_id = rules.rule_id

),

released_counted as (

    select
        items.source,
        items.template_key,
        count(*) filter (where release.released) as n_released,
        count(*) filter (where release.reason = 'block_broken') as n_block_broken
    from items
    inner join release
        on items.item_id = release.item_id
    group by
        items.source,
        items.template_key

),

held_templates as (

    select
        items.template_key,
        held_back.rule_id,
        count(*) as n_items,
        count(*) filter (where held_back.is_alone) as n_items_alone
    from held_back
    inner join items
        on held_back.item_id = items.item_id
    group by
        items.template_key,
        held_back.rule_id

),

rules_counted as (

    select
        released_counted.source,
        held_templates.rule_id,
        count(*) as n_templates,
        count(*) filter (
            where held_templates.n_items_alone > 0 and released_counted.n_released = 0
        ) as n_templates_alone,
        sum(held_templates.n_items) as n_items,
        sum(held_templates.n_items_alone) as n_items_alone
    from held_templates
    inner join released_counted
        on held_templates.template_key = released_counted.template_key
    group by
        released_counted.source,
        held_templates.rule_id

),

released_totals as (

    select
        source,
        count(*) filter (where n_released > 0) as n_templates,
        sum(n_released) as n_items,
        sum(n_block_broken) as n_block_broken
    from released_counted
    group by source

),

total_steps as (

    select
        sources.source,
        steps.step_number,
        steps.unit,
        steps.step,
        case
            when steps.measure = 'accepted' then triple_totals.n_accepted
            when steps.measure = 'rendered' then triple_totals.n_rendered
            when steps.measure = 'kept' then triple_totals.n_kept
            when steps.measure = 'block_broken' then released_totals.n_block_broken
            when steps.unit = 'templates' then released_totals.n_templates
            else released_totals.n_items
        end as n
    from sources
    cross join steps
    left join triple_totals
        on sources.source = triple_totals.source
    left join released_totals
        on sources.source = released_totals.source
    where steps.part = 'total'

),

rule_steps as (

    select
        sources.source,
        steps.step_number + 10 * rules.rule_number as step_number,
        steps.unit,
        replace(steps.step, '{rule}', concat(rules.rule_id, ' ', rules.name)) as step,
        case concat_ws(' ', steps.unit, steps.measure)
            when 'templates touched' then rules_counted.n_templates
            when 'templates alone' then rules_counted.n_templates_alone
            when 'items touched' then rules_counted.n_items
            when 'items alone' then rules_counted.n_items_alone
        end as n
    from sources
    cross join rules
    cross join steps
    left join rules_counted
        on sources.source = rules_counted.source
        and rules.rule_id = rules_counted.rule_id
    where steps.part = 'rule'

),

united as (

    select source, step_number, unit, step, n from losses
    union all
    select source, step_number, unit, step, n from total_steps
    union all
    select source, step_number, unit, step, n from rule_steps

)

select
    source,
    cast(step_number as integer) as step_number,
    unit,
    step,
    cast(coalesce(n, 0) as bigint) as n
from united
