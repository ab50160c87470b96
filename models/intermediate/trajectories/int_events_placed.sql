{{ config(materialized='view') }}

-- The rows of int_source_events with their visit, or with the reason why they have none.
-- An order that starts after the visit's end was never carried out in it, and a procedure or
-- diagnosis dated after that day is not of this visit: all would let the future into a scenario.
-- Of diagnoses only this is read from a date: what is coded of a visit is known at its discharge.
with

events as (

    select * from {{ ref('int_source_events') }}

),

admissions as (

    select
        merged.source,
        merged.admission_id,
        merged.patient_id,
        merged.visit_key,
        visits.discharged_at as visit_ended_at,
        least(merged.discharged_at, visits.discharged_at) as diagnosed_at
    from {{ ref('int_admissions_merged') }} as merged
    left join {{ ref('int_visits_ordered') }} as visits
        on merged.visit_key = visits.visit_key

)

select
    events.source,
    events.event_type,
    events.code_system,
    events.source_code,
    events.normalized_code,
    events.source_label,
    events.ndc,
    events.route,
    events.seq_num,
    events.n_source_rows,
    admissions.visit_key,
    case
        when events.event_type = 'diagnosis' then admissions.diagnosed_at
        else events.first_at
    end as first_at,
    case
        when events.set_aside_reason is not null then events.set_aside_reason
        when admissions.admission_id is null then 'unknown_admission'
        when events.patient_id <> admissions.patient_id then 'patient_mismatch'
        when events.event_type in ('diagnosis', 'procedure')
            and cast(events.first_at as date) > cast(admissions.visit_ended_at as date)
            then 'after_discharge'
        when events.event_type = 'medication' and events.first_at > admissions.visit_ended_at
            then 'after_discharge'
    end as set_aside_reason
from events
left join admissions
    on events.source = admissions.source
    and events.admission_id = admissions.admission_id
