-- Findings of no rule, of another scope than their rule's, without the keys of their scope or with
-- others, twice the same, or of a template, item or option that there is not: none of them would
-- hold an item back.
with

findings as (

    select * from {{ ref('fct_leak_findings') }}

),

rules as (

    select * from {{ ref('leak_rules') }}

),

templates as (

    select template_key from {{ ref('int_templates') }}

),

items as (

    select item_id from {{ ref('dim_items') }}

),

options as (

    select
        template_key,
        option_key
    from {{ ref('int_leak_options') }}

),

misnamed as (

    select
        findings.rule_id,
        'not a unit of the rule' as problem
    from findings
    left join rules
        on findings.rule_id = rules.rule_id
    where findings.scope is distinct from rules.scope
        or (findings.item_id is not null) is distinct from (findings.scope = 'item')
        or (findings.template_key is not null)
            is distinct from (findings.scope in ('template', 'option'))
        or (findings.option_key is not null) is distinct from (findings.scope = 'option')
        or findings.evidence is null

),

repeated as (

    select
        rule_id,
        'found twice' as problem
    from findings
    group by
        rule_id,
        template_key,
        item_id,
        option_key
    having count(*) > 1

),

unknown_units as (

    select
        findings.rule_id,
        'no such unit' as problem
    from findings
    left join templates
        on findings.template_key = templates.template_key
    left join items
        on findings.item_id = items.item_id
    left join options
        on findings.template_key = options.template_key
        and findings.option_key = options.option_key
    where (findings.scope = 'template' and templates.template_key is null)
        or (findings.scope = 'item' and items.item_id is null)
        or (findings.scope = 'option' and options.option_key is null)

)

select * from misnamed
union all
select * from repeated
union all
select * from unknown_units
