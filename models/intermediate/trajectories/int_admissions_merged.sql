-- One row per usable admission with the visit it belongs to. Hospital stays (seed column
-- merges_over_gap) of a patient at most `merge_gap_hours` apart are one visit: gaps and islands
-- over the running latest discharge. An outpatient encounter joins the stay that it overlaps and
-- sets none of its times; away from every stay it is one visit with those it overlaps.
with

admissions as (

    select * from {{ ref('int_source_admissions') }}

),

patients as (

    select * from {{ ref('int_source_patients') }}

),

visit_classes as (

    select * from {{ ref('visit_classes') }}

),

usable as (

    select
        admissions.source,
        admissions.patient_id,
        admissions.admission_id,
        admissions.admission_type,
        admissions.admitted_at,
        admissions.discharged_at
    from admissions
    inner join patients
        on admissions.source = patients.source
        and admissions.patient_id = patients.patient_id
    where admissions.set_aside_reason is null
        and patients.set_aside_reason is null

),

type_classes as (

    -- The most specific row of the seed decides: source and type, then type, then the rest.
    select
        types.source,
        types.admission_type,
        visit_classes.visit_class,
        visit_classes.class_rank,
        visit_classes.merges_over_gap
    from (select distinct source, admission_type from usable) as types
    inner join visit_classes
        on visit_classes.source in (types.source, '*')
        and visit_classes.admission_type in (types.admission_type, '*')
    qualify row_number() over (
        partition by types.source, types.admission_type
        order by
            case when visit_classes.admission_type = '*' then 1 else 0 end,
            case when visit_classes.source = '*' then 1 else 0 end
    ) = 1

),

classed as (

    select
        usable.*,
        type_classes.visit_class,
        type_classes.class_rank,
        coalesce(type_classes.merges_over_gap, false) as is_stay,
        coalesce(
            usable.admitted_at < max(usable.discharged_at) over (
                partition by usable.source, usable.patient_id
                order by usable.admitted_at, usable.admission_id
                rows between unbounded preceding and 1 preceding
            ),
            false
        ) as is_overlapping
    from usable
    left join type_classes
        on usable.source = type_classes.source
        and usable.admission_type is not distinct from type_classes.admission_type

),

stays_compared as (

    select
        *,
        max(discharged_at) over (
            partition by source, patient_id
            order by admitted_at, admission_id
            rows between unbounded preceding and 1 preceding
        ) + interval ({{ var('merge_gap_hours') }}) hour as same_visit_until
    from classed
    where is_stay

),

stays_numbered as (

    select
        *,
        sum(case when admitted_at <= same_visit_until then 0 else 1 end) over (
            partition by source, patient_id
            order by admitted_at, admission_id
            rows between unbounded preceding and current row
        ) as island
    from stays_compared

),

stay_visits as (

    select
        source,
        patient_id,
        island,
        min_by(admission_id, (admitted_at, admission_id)) as first_admission_id,
        min(admitted_at) as admitted_at,
        max(discharged_at) as discharged_at
    from stays_numbered
    group by source, patient_id, island

),

joining as (

    -- An encounter that overlaps several stays goes to the first.
    select
        classed.source,
        classed.admission_id,
        stay_visits.first_admission_id
    from classed
    inner join stay_visits
        on classed.source = stay_visits.source
        and classed.patient_id = stay_visits.patient_id
        and classed.admitted_at <= stay_visits.discharged_at
        and classed.discharged_at >= stay_visits.admitted_at
    where not classed.is_stay
    qualify row_number() over (
        partition by classed.source, classed.admission_id
        order by stay_visits.island
    ) = 1

),

others_compared as (

    select
        classed.*,
        max(classed.discharged_at) over (
            partition by classed.source, classed.patient_id
            order by classed.admitted_at, classed.admission_id
            rows between unbounded preceding and 1 preceding
        ) as same_visit_until
    from classed
    left join joining
        on classed.source = joining.source
        and classed.admission_id = joining.admission_id
    where not classed.is_stay
        and joining.admission_id is null

),

others_numbered as (

    select
        *,
        sum(case when admitted_at <= same_visit_until then 0 else 1 end) over (
            partition by source, patient_id
            order by admitted_at, admission_id
            rows between unbounded preceding and current row
        ) as island
    from others_compared

),

assigned as (

    select
        stays_numbered.source,
        stays_numbered.admission_id,
        stay_visits.first_admission_id,
        true as sets_visit_times
    from stays_numbered
    inner join stay_visits
        on stays_numbered.source = stay_visits.source
        and stays_numbered.patient_id = stay_visits.patient_id
        and stays_numbered.island = stay_visits.island
    union all
    select
        source,
        admission_id,
        first_admission_id,
        false
    from joining
    union all
    select
        source,
        admission_id,
        first_value(admission_id) over (
            partition by source, patient_id, island
            order by admitted_at, admission_id
        ),
        true
    from others_numbered

),

first_admissions as (

    -- Visits do not overlap, so they go by the time of the admission that opens them.
    select
        classed.*,
        assigned.first_admission_id,
        assigned.sets_visit_times,
        min(case when assigned.sets_visit_times then classed.admitted_at end) over (
            partition by classed.source, assigned.first_admission_id
        ) as visit_admitted_at
    from classed
    inner join assigned
        on classed.source = assigned.source
        and classed.admission_id = assigned.admission_id

)

select
    {{ key(['source', 'first_admission_id']) }} as visit_key,
    {{ key(['source', 'patient_id']) }} as patient_key,
    source,
    patient_id,
    admission_id,
    admission_type,
    visit_class,
    class_rank,
    admitted_at,
    discharged_at,
    cast(dense_rank() over (
        partition by source, patient_id
        order by visit_admitted_at, first_admission_id
    ) as integer) as visit_number,
    sets_visit_times,
    is_overlapping
from first_admissions
