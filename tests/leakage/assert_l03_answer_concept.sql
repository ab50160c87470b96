-- Released items whose scenario has an event with the concept that counts as right.
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}

),

released as (

    select distinct
        items.template_key,
        answer_keys.gold_cui
    from items
    inner join answer_keys
        on items.item_id = answer_keys.item_id

),

shown as (

    select
        released.template_key,
        released.gold_cui,
        unnest(string_split(templates.scenario_event_keys, ',')) as event_key
    from released
    inner join templates
        on released.template_key = templates.template_key

)

select
    shown.template_key,
    shown.event_key,
    shown.gold_cui
from shown
inner join mappings
    on shown.event_key = mappings.event_key
    and shown.gold_cui = mappings.cui
