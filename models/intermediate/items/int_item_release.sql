-- One row per kept item: released when no leak rule of policy fail or quarantine touches it, else
-- with the rules that do.
with

items as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

findings as (

    select * from {{ ref('int_item_findings') }}

),

rules as (

    select * from {{ ref('leak_rules') }}
    where policy in ('fail', 'quarantine')

),

held_back as (

    select
        findings.item_id,
        string_agg(findings.rule_id, ',' order by findings.rule_id) as reason
    from findings
    inner join rules
        on findings.rule_id = rules.rule_id
    group by findings.item_id

),

decided as (

    select
        items.item_id,
        held_back.item_id is null as released,
        held_back.reason
    from items
    left join held_back
        on items.item_id = held_back.item_id

)

select * from decided
