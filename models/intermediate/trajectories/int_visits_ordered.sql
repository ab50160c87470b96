-- One row per visit: its stay, its class and the visits that follow it.
with

admissions as (

    select * from {{ ref('int_admissions_merged') }}

),

visits as (

    select
        visit_key,
        source,
        patient_key,
        patient_id,
        visit_number,
        max(class_rank) as class_rank,
        min(admitted_at) filter (where sets_visit_times) as admitted_at,
        max(discharged_at) filter (where sets_visit_times) as discharged_at,
        cast(count(*) as integer) as n_merged_admissions,
        bool_or(is_overlapping) as is_overlapping
    from admissions
    group by visit_key, source, patient_key, patient_id, visit_number

),

classed as (

    select
        visits.*,
        classes.visit_class
    from visits
    left join (select distinct visit_class, class_rank from admissions) as classes
        on visits.class_rank = classes.class_rank

),

numbered as (

    select
        *,
        visit_number + 1 as next_visit_number,
        min(case when visit_class = 'inpatient' then visit_number end) over (
            partition by patient_key
            order by visit_number
            rows between 1 following and unbounded following
        ) as next_inpatient_visit_number
    from classed

)

select
    numbered.visit_key,
    numbered.source,
    numbered.patient_key,
    numbered.patient_id,
    numbered.visit_number,
    numbered.visit_class,
    numbered.admitted_at,
    numbered.discharged_at,
    numbered.n_merged_admissions,
    numbered.is_overlapping,
    next_visits.visit_key as next_visit_key,
    cast(date_sub('day', numbered.discharged_at, next_visits.admitted_at) as integer)
        as days_to_next,
    next_inpatient_visits.visit_key as next_inpatient_visit_key,
    cast(date_sub('day', numbered.discharged_at, next_inpatient_visits.admitted_at) as integer)
        as days_to_next_inpatient
from numbered
left join classed as next_visits
    on numbered.patient_key = next_visits.patient_key
    and numbered.next_visit_number = next_visits.visit_number
left join classed as next_inpatient_visits
    on numbered.patient_key = next_inpatient_visits.patient_key
    and numbered.next_inpatient_visit_number = next_inpatient_visits.visit_number
