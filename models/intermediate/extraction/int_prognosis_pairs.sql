-- One row per inpatient visit whose next inpatient visit began within the horizon (px).
with

visits as (

    select * from {{ ref('dim_visits') }}

),

pairs as (

    select
        visits.visit_key,
        targets.visit_key as target_visit_key,
        visits.source,
        visits.patient_key,
        visits.visit_number,
        date_diff('day', visits.discharged_at, targets.admitted_at) as days_to_target
    from visits
    inner join visits as targets
        on visits.next_inpatient_visit_key = targets.visit_key
        and visits.patient_key = targets.patient_key
    where visits.visit_class = 'inpatient'
        and targets.visit_class = 'inpatient'
        -- Overlapping stays have no before and after.
        and targets.admitted_at > visits.discharged_at
        and targets.admitted_at
        <= visits.discharged_at + to_days({{ var('px_horizon_days') }})

)

select * from pairs
