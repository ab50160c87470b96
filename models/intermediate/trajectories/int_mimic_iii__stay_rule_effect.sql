-- What the rule mimic_iii_stays leaves: patients, and pairs of consecutive visits. Stays at most
-- `merge_gap_hours` apart are one visit, as in int_admissions_merged, which knows only what is
-- left.
with

steps as (

    select * from {{ ref('attrition_steps') }}
    where part = 'stay_rule'

),

patients as (

    select * from {{ ref('int_mimic_iii__stay_rule') }}

),

admissions as (

    select * from {{ ref('int_mimic_iii__admissions') }}

),

usable as (

    -- Set aside by the rule alone, or not at all.
    select
        admissions.patient_id,
        admissions.admission_id,
        admissions.admitted_at,
        admissions.discharged_at,
        patients.set_aside_reason is null as is_counted
    from admissions
    inner join patients
        on admissions.patient_id = patients.subject_id
    where admissions.set_aside_reason is not distinct from patients.set_aside_reason

),

compared as (

    select
        *,
        row_number() over (
            partition by patient_id
            order by admitted_at, admission_id
        ) as admission_number,
        max(discharged_at) over (
            partition by patient_id
            order by admitted_at, admission_id
            rows between unbounded preceding and 1 preceding
        ) + interval ({{ var('merge_gap_hours') }}) hour as same_visit_until
    from usable

),

later_visits as (

    select * from compared
    where admission_number > 1
        and admitted_at > same_visit_until

),

counted as (

    select 'patients' as unit, 'before' as measure, count(*) as n
    from patients
    union all
    select 'patients', 'after', count(*) filter (where set_aside_reason is null)
    from patients
    union all
    select 'visits', 'before', count(*)
    from later_visits
    union all
    select 'visits', 'after', count(*) filter (where is_counted)
    from later_visits

)

select
    cast('mimic_iii' as varchar) as source,
    steps.step_number,
    steps.unit,
    steps.step,
    counted.n
from steps
inner join counted
    on steps.unit = counted.unit
    and steps.measure = counted.measure
