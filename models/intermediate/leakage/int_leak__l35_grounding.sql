-- Templates that are not grounded in the record: a subject, context or answer that is no event of
-- the visit they name (px: the answer of the target visit), visits of another patient than theirs,
-- no subject, no context, or an answer concept that the answer event does not have.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

events as not materialized (

    select
        event_key,
        visit_key
    from {{ ref('fct_visit_events') }}

),

visits as (

    select
        visit_key,
        patient_key
    from {{ ref('dim_visits') }}

),

mappings as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

scenario_placed as (

    select
        scenario.template_key,
        count(*) filter (where scenario.event_key = templates.subject_event_key) as n_subjects,
        count(*) filter (where scenario.event_key <> templates.subject_event_key) as n_context,
        count(*) filter (where events.visit_key is distinct from templates.visit_key) as n_elsewhere
    from scenario
    inner join templates
        on scenario.template_key = templates.template_key
    left join events
        on scenario.event_key = events.event_key
    group by scenario.template_key

),

judged as (

    select
        templates.template_key,
        case
            when index_visits.patient_key is distinct from templates.patient_key
                then 'index visit of another patient, or unknown'
            when answer_visits.patient_key is distinct from templates.patient_key
                then 'answer visit of another patient, or unknown'
            when answers.visit_key is distinct from answer_visits.visit_key
                then 'answer is no event of its visit'
            when coalesce(scenario_placed.n_subjects, 0) <> 1 then 'subject is not shown'
            when scenario_placed.n_context = 0 then 'no context is shown'
            when scenario_placed.n_elsewhere > 0
                then 'scenario event is no event of the index visit'
            when mappings.event_key is null then 'answer event does not have the answer concept'
        end as evidence
    from templates
    left join visits as index_visits
        on templates.visit_key = index_visits.visit_key
    left join visits as answer_visits
        on coalesce(templates.target_visit_key, templates.visit_key) = answer_visits.visit_key
    left join events as answers
        on templates.answer_event_key = answers.event_key
    left join scenario_placed
        on templates.template_key = scenario_placed.template_key
    left join mappings
        on templates.answer_event_key = mappings.event_key
        and templates.answer_cui_id = mappings.cui_id

)

select
    'L35' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from judged
where evidence is not null
