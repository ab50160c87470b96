-- Why was this item held back? The rules that hold items back (or tag them), each with what it
-- found and the item's text; an item without a rule stays back with its block (block_broken).
-- Run with: dbt show --select why_was_this_item_held_back --limit -1 --vars "{item: <item_id>}"
-- Without the variable it lists every item that is held back. `ehrbench explain` prints one.
with

items as (

    select * from {{ ref('dim_items') }}
    where not released
        {%- if var('item', none) %}
        and item_id = '{{ var('item') | replace("'", "''") }}'
        {%- endif %}

),

quality as (

    select * from {{ ref('rpt_item_quality') }}

),

rules as (

    select * from {{ ref('rpt_leak_rules') }}

),

findings as (

    select * from {{ ref('fct_leak_findings') }}

),

options as (

    select * from {{ ref('fct_item_options') }}

),

keys as (

    select * from {{ ref('fct_answer_keys') }}

),

item_findings as (

    select * from {{ ref('int_item_findings') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

)

select
    items.item_id,
    items.source,
    items.task,
    items.n_options,
    quality.reason,
    item_findings.rule_id,
    rules.policy,
    rules.question as rule_question,
    findings.evidence,
    labels.label as option_found,
    items.scenario,
    items.question,
    keys.gold_label
from items
inner join quality
    on items.item_id = quality.item_id
left join item_findings
    on items.item_id = item_findings.item_id
left join rules
    on item_findings.rule_id = rules.rule_id
left join findings
    on item_findings.rule_id = findings.rule_id
    and (items.template_key = findings.template_key or items.item_id = findings.item_id)
left join options
    on items.item_id = options.item_id
    and findings.option_key = options.option_key
left join labels
    on options.option_key = labels.option_key
left join keys
    on items.item_id = keys.item_id
-- A larger item of the template may show an option that this one does not.
where findings.scope is distinct from 'option'
    or options.option_key is not null
order by
    items.source,
    items.template_key,
    items.item_id,
    item_findings.rule_id,
    findings.option_key
