-- A px triple pairs an inpatient visit with a later inpatient visit of the same patient that began
-- after the discharge and within the horizon; other tasks have no target.
with

triples as (

    select * from {{ ref('fct_triples') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

timed as (

    select
        triples.triple_id,
        triples.task,
        triples.target_visit_key,
        index_visits.visit_class as index_class,
        target_visits.visit_class as target_class,
        index_visits.patient_key as index_patient,
        target_visits.patient_key as target_patient,
        index_visits.discharged_at,
        target_visits.admitted_at
    from triples
    left join visits as index_visits
        on triples.visit_key = index_visits.visit_key
    left join visits as target_visits
        on triples.target_visit_key = target_visits.visit_key

)

select *
from timed
where (task <> 'px' and target_visit_key is not null)
    or (task = 'px' and not coalesce(
        index_class = 'inpatient'
        and target_class = 'inpatient'
        and index_patient = target_patient
        and admitted_at > discharged_at
        and admitted_at <= discharged_at + to_days({{ var('px_horizon_days') }}),
        false
    ))
