-- One row per concept x ICD code that stands for it: concepts of answers, and concepts of scenario
-- events that are coded in another system, so that every rule on codes can read them.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

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

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}
    where cui_id is not null

),

icd_atoms as (

    select * from {{ ref('int_icd_atoms') }}
    where mapping_method = 'exact_atom'

),

asked_concepts as (

    select answer_cui_id as cui_id from templates

    union

    select mappings.cui_id
    from scenario
    inner join events
        on scenario.event_key = events.event_key
    inner join mappings
        on events.event_key = mappings.event_key
    left join icd_code_systems
        on events.code_system = icd_code_systems.code_system
    where icd_code_systems.code_system is null

),

codes as (

    select
        cui_id,
        code_system,
        normalized_code,
        mapping_level in ('exact', 'equivalent') as is_exact
    from code_concepts

    union

    select
        cui_id,
        code_system,
        normalized_code,
        true as is_exact
    from icd_atoms

),

concept_codes as (

    select
        codes.cui_id,
        codes.code_system,
        codes.normalized_code,
        bool_or(codes.is_exact) as is_exact
    from codes
    inner join asked_concepts
        on codes.cui_id = asked_concepts.cui_id
    group by
        codes.cui_id,
        codes.code_system,
        codes.normalized_code

)

select * from concept_codes
