with

visits as (

    select * from {{ ref('int_visits_ordered') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

)

select
    visits.visit_key,
    visits.source,
    visits.patient_key,
    patients.person_group,
    visits.visit_number,
    visits.visit_class,
    visits.admitted_at,
    visits.discharged_at,
    visits.n_merged_admissions,
    visits.is_overlapping,
    visits.next_visit_key,
    visits.days_to_next,
    visits.next_inpatient_visit_key,
    visits.days_to_next_inpatient
from visits
left join patients
    on visits.patient_key = patients.patient_key
