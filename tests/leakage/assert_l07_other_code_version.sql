-- Released items of px whose answer the patient has had under a code of another system: the codes
-- of earlier visits, translated by the mappings or read as concepts, hold the answer's.
with

items as (

    select distinct template_key from {{ ref('dim_items') }}
    where released
        and task = 'px'

),

templates as (

    select * from {{ ref('fct_templates') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}
    where event_type = 'diagnosis'

),

subjects as (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where mapping_level <> 'part'

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}

),

asked as (

    select
        templates.template_key,
        templates.answer_cui,
        answers.code_system,
        answers.normalized_code,
        index_visits.patient_key,
        index_visits.visit_number
    from items
    inner join templates
        on items.template_key = templates.template_key
    inner join events as answers
        on templates.answer_event_key = answers.event_key
    inner join subjects
        on templates.subject_event_key = subjects.event_key
    inner join visits as index_visits
        on subjects.visit_key = index_visits.visit_key

),

earlier as (

    select
        asked.*,
        events.event_key as earlier_event_key,
        events.code_system as earlier_system,
        events.normalized_code as earlier_code
    from asked
    inner join visits
        on asked.patient_key = visits.patient_key
        and asked.visit_number >= visits.visit_number
    inner join events
        on visits.visit_key = events.visit_key
        and asked.code_system <> events.code_system

)

select
    earlier.template_key,
    earlier.earlier_code
from earlier
left join mappings
    on earlier.earlier_event_key = mappings.event_key
    and earlier.answer_cui = mappings.cui
left join gem_targets as onwards
    on earlier.earlier_system = onwards.code_system
    and earlier.earlier_code = onwards.normalized_code
    and earlier.code_system = onwards.target_system
    and earlier.normalized_code = onwards.target_code
    and not onwards.is_combination
left join gem_targets as backwards
    on earlier.code_system = backwards.code_system
    and earlier.normalized_code = backwards.normalized_code
    and earlier.earlier_system = backwards.target_system
    and earlier.earlier_code = backwards.target_code
    and not backwards.is_combination
where mappings.event_key is not null
    or onwards.code_system is not null
    or backwards.code_system is not null
