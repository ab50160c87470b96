-- Released items with a finding of policy fail or quarantine: of their template, of themselves or
-- of an option that they show.
with

rules as (

    select * from {{ ref('rpt_leak_rules') }}
    where policy in ('fail', 'quarantine')

),

findings as (

    select all_findings.*
    from {{ ref('fct_leak_findings') }} as all_findings
    inner join rules
        on all_findings.rule_id = rules.rule_id

),

items as (

    select * from {{ ref('dim_items') }}
    where released

),

options as (

    select * from {{ ref('fct_item_options') }}

),

by_text as (

    select
        items.item_id,
        findings.rule_id
    from items
    inner join findings
        on items.template_key = findings.template_key
        and findings.scope = 'template'

    union all

    select
        items.item_id,
        findings.rule_id
    from items
    inner join findings
        on items.item_id = findings.item_id
        and findings.scope = 'item'

),

by_option as (

    select
        items.item_id,
        findings.rule_id
    from findings
    inner join items
        on findings.template_key = items.template_key
    inner join options
        on items.item_id = options.item_id
        and findings.option_key = options.option_key
    where findings.scope = 'option'

)

select * from by_text
union all
select * from by_option
