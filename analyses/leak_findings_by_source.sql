-- Which leak rules find what, in which source and task? Units found, the templates behind them and
-- how often, for every rule on items, whatever follows from a finding; templates that fell to a cap
-- are left out.
-- Run with: dbt show --select leak_findings_by_source --limit -1
with

findings as (

    select * from {{ ref('fct_leak_findings') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

items as (

    select * from {{ ref('dim_items') }}

),

rules as (

    select * from {{ ref('rpt_leak_rules') }}

),

placed as (

    select
        findings.rule_id,
        findings.scope,
        coalesce(findings.template_key, items.template_key) as template_key
    from findings
    left join items
        on findings.item_id = items.item_id

),

templates_counted as (

    select
        source,
        task,
        count(*) as n_templates
    from templates
    group by
        source,
        task

)

select
    placed.rule_id,
    rules.name,
    rules.policy,
    templates.source,
    templates.task,
    placed.scope,
    count(*) as n_found,
    count(distinct placed.template_key) as n_templates_found,
    templates_counted.n_templates,
    cast(count(distinct placed.template_key) / templates_counted.n_templates as decimal(9, 6))
        as share_of_templates
from placed
inner join templates
    on placed.template_key = templates.template_key
inner join rules
    on placed.rule_id = rules.rule_id
inner join templates_counted
    on templates.source = templates_counted.source
    and templates.task = templates_counted.task
group by
    placed.rule_id,
    rules.name,
    rules.policy,
    templates.source,
    templates.task,
    placed.scope,
    templates_counted.n_templates
order by
    placed.rule_id,
    templates.source,
    templates.task
