-- One row per template x scenario event x code that the event says: its own, and for an event of a
-- system other than ICD the ICD codes of its concepts.
with

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

concept_codes as (

    select * from {{ ref('int_leak_concept_codes') }}
    where is_exact

),

shown_events as (

    select
        scenario.template_key,
        events.event_key,
        events.code_system,
        events.normalized_code,
        icd_code_systems.code_system is not null as is_icd
    from scenario
    inner join events
        on scenario.event_key = events.event_key
    left join icd_code_systems
        on events.code_system = icd_code_systems.code_system

),

scenario_codes as (

    select
        template_key,
        event_key,
        code_system,
        normalized_code
    from shown_events
    where is_icd

    union

    select
        shown_events.template_key,
        shown_events.event_key,
        concept_codes.code_system,
        concept_codes.normalized_code
    from shown_events
    inner join mappings
        on shown_events.event_key = mappings.event_key
    inner join concept_codes
        on mappings.cui_id = concept_codes.cui_id
    where not shown_events.is_icd

)

select * from scenario_codes
