-- L03: a scenario event has the answer's concept, as any of its concepts or as a part.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

found as (

    select
        'L03' as rule_id,
        'template' as scope,
        templates.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(concat(
            mappings.cui, ' by ', events.code_system, ' ', events.normalized_code
        )) as evidence
    from templates
    inner join scenario
        on templates.template_key = scenario.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key
        and templates.answer_cui_id = mappings.cui_id
    inner join events
        on scenario.event_key = events.event_key
    group by templates.template_key

)

select * from found
