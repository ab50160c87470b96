-- One row per template x concept of a scenario event (every concept of an event, parts included).
with

templates as (

    select * from {{ ref('int_templates') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

scenario_concepts as (

    select distinct
        templates.template_number,
        templates.pool_number,
        templates.task,
        mappings.cui_id
    from scenario
    inner join templates
        on scenario.template_key = templates.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key

)

select * from scenario_concepts
