-- Distractors that could be right: the person has the concept in some visit, or the knowledge base
-- supports it at exact concepts for a scenario event under a relation of the task. Written apart
-- from the models that exclude them.
with

templates as (

    select * from {{ ref('fct_templates') }}

),

distractors as (

    select * from {{ ref('int_distractors') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

edge_roles as (

    select * from {{ ref('int_edge_roles') }}
    where role = 'support'

),

relations as (

    select * from {{ ref('relations') }}

),

in_record as (

    select
        distractors.template_key,
        distractors.option_key,
        'in_record' as found_by
    from distractors
    inner join templates
        on distractors.template_key = templates.template_key
    inner join visits
        on templates.patient_key = visits.patient_key
    inner join events
        on visits.visit_key = events.visit_key
    inner join mappings
        on events.event_key = mappings.event_key
        and distractors.cui_id = mappings.cui_id

),

supported as (

    select
        distractors.template_key,
        distractors.option_key,
        'supported' as found_by
    from distractors
    inner join templates
        on distractors.template_key = templates.template_key
    inner join scenario
        on distractors.template_key = scenario.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key
    inner join relations
        on templates.task = relations.task
    inner join edge_roles
        on relations.relation = edge_roles.relation
        and mappings.cui_id = edge_roles.subject_cui_id
        and distractors.cui_id = edge_roles.object_cui_id

)

select * from in_record
union all
select * from supported
