-- Items whose scenario holds the answer: the same event, the same concept, or its label as words.
with

items as (

    select * from {{ ref('dim_items') }}

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}

),

named as (

    select
        items.item_id,
        'label' as found_by
    from items
    inner join answer_keys
        on items.item_id = answer_keys.item_id
    where contains(
        {{ norm_label('items.scenario') }}, {{ norm_label('answer_keys.gold_label') }})

),

held as (

    select
        templates.template_key,
        case
            when scenario.event_key = templates.answer_event_key then 'event'
            else 'concept'
        end as found_by
    from templates
    inner join scenario
        on templates.template_key = scenario.template_key
    left join mappings
        on scenario.event_key = mappings.event_key
        and templates.answer_cui = mappings.cui
    where scenario.event_key = templates.answer_event_key
        or mappings.event_key is not null

)

select
    item_id as found_in,
    found_by
from named

union all

select
    template_key as found_in,
    found_by
from held
