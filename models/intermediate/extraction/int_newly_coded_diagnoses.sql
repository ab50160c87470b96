-- One row per diagnosis of a target visit of a prognosis pair: is it newly coded there, and if not,
-- why not. "Before" is every visit of the patient up to and including the index visit; there every
-- diagnosis counts, status codes and second concepts included, so that exclusion is wide.
with

pairs as (

    select * from {{ ref('int_prognosis_pairs') }}

),

events as (

    select * from {{ ref('fct_visit_events') }} where event_type = 'diagnosis'

),

visits as (

    select * from {{ ref('dim_visits') }}

),

event_roles as (

    select * from {{ ref('int_event_roles') }} where is_dx_event

),

event_concepts as not materialized (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level not in ('part', 'none')

),

relatives as (

    select distinct
        cui_id,
        relative_cui_id
    from {{ ref('int_concept_relatives') }}
    where cui_id <> relative_cui_id

),

patients as (

    select distinct patient_key from pairs

),

coded_diagnoses as (

    select
        visits.patient_key,
        visits.visit_number,
        events.event_key,
        concat(
            events.code_system, ':',
            {{ icd_category('events.code_system', 'events.normalized_code') }}
        ) as icd_category
    from events
    inner join visits
        on events.visit_key = visits.visit_key
    inner join patients
        on visits.patient_key = patients.patient_key

),

first_coded_concepts as (

    select
        coded_diagnoses.patient_key,
        event_concepts.cui_id,
        min(coded_diagnoses.visit_number) as first_visit_number
    from coded_diagnoses
    inner join event_concepts
        on coded_diagnoses.event_key = event_concepts.event_key
    group by coded_diagnoses.patient_key, event_concepts.cui_id

),

first_coded_categories as (

    select
        patient_key,
        icd_category,
        min(visit_number) as first_visit_number
    from coded_diagnoses
    group by patient_key, icd_category

),

candidates as (

    select
        pairs.visit_key as index_visit_key,
        pairs.target_visit_key,
        pairs.patient_key,
        pairs.visit_number as index_visit_number,
        event_roles.event_key,
        event_roles.cui_id,
        event_roles.icd_category
    from pairs
    inner join event_roles
        on pairs.target_visit_key = event_roles.visit_key

),

candidate_concepts as (

    select
        candidates.event_key,
        candidates.patient_key,
        candidates.index_visit_number,
        event_concepts.cui_id
    from candidates
    inner join event_concepts
        on candidates.event_key = event_concepts.event_key

),

coded_before as (

    select distinct candidate_concepts.event_key
    from candidate_concepts
    inner join first_coded_concepts
        on candidate_concepts.patient_key = first_coded_concepts.patient_key
        and candidate_concepts.cui_id = first_coded_concepts.cui_id
    where first_coded_concepts.first_visit_number <= candidate_concepts.index_visit_number

),

relative_before as (

    select distinct candidate_concepts.event_key
    from candidate_concepts
    inner join relatives
        on candidate_concepts.cui_id = relatives.cui_id
    inner join first_coded_concepts
        on candidate_concepts.patient_key = first_coded_concepts.patient_key
        and relatives.relative_cui_id = first_coded_concepts.cui_id
    where first_coded_concepts.first_visit_number <= candidate_concepts.index_visit_number

),

category_before as (

    select distinct candidates.event_key
    from candidates
    inner join first_coded_categories
        on candidates.patient_key = first_coded_categories.patient_key
        and candidates.icd_category = first_coded_categories.icd_category
    where first_coded_categories.first_visit_number <= candidates.index_visit_number

),

decided as (

    select
        candidates.target_visit_key as visit_key,
        candidates.index_visit_key,
        candidates.event_key,
        case
            -- Without a concept nobody can say that a relative was not coded before.
            when candidates.cui_id is null then 'unmapped'
            when coded_before.event_key is not null then 'coded_before'
            when relative_before.event_key is not null then 'relative_before'
            when category_before.event_key is not null then 'category_before'
            else 'new'
        end as reason
    from candidates
    left join coded_before
        on candidates.event_key = coded_before.event_key
    left join relative_before
        on candidates.event_key = relative_before.event_key
    left join category_before
        on candidates.event_key = category_before.event_key

),

newly_coded_diagnoses as (

    select
        visit_key,
        index_visit_key,
        event_key,
        reason = 'new' as is_newly_coded,
        reason
    from decided

)

select * from newly_coded_diagnoses
