-- One row per usable admission with the visit it belongs to. Stays of a patient at most
-- `merge_gap_hours` apart are one visit (gaps and islands over the running latest discharge).
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
        visit_classes.class_rank
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

compared as (

    select
        *,
        max(discharged_at) over (
            partition by source, patient_id
            order by admitted_at, admission_id
            rows between unbounded preceding and 1 preceding
        ) as latest_discharge_before
    from usable

),

islands as (

    select
        *,
        coalesce(admitted_at < latest_discharge_before, false) as is_overlapping,
        sum(
            case
                when admitted_at
                    <= latest_discharge_before + interval ({{ var('merge_gap_hours') }}) hour
                    then 0
                else 1
            end
        ) over (
            partition by source, patient_id
            order by admitted_at, admission_id
            rows between unbounded preceding and current row
        ) as visit_number
    from compared

),

first_admissions as (

    select
        *,
        first_value(admission_id) over (
            partition by source, patient_id, visit_number
            order by admitted_at, admission_id
        ) as first_admission_id
    from islands

)

select
    {{ key(['first_admissions.source', 'first_admissions.first_admission_id']) }} as visit_key,
    {{ key(['first_admissions.source', 'first_admissions.patient_id']) }} as patient_key,
    first_admissions.source,
    first_admissions.patient_id,
    first_admissions.admission_id,
    first_admissions.admission_type,
    type_classes.visit_class,
    type_classes.class_rank,
    first_admissions.admitted_at,
    first_admissions.discharged_at,
    cast(first_admissions.visit_number as integer) as visit_number,
    first_admissions.is_overlapping
from first_admissions
left join type_classes
    on first_admissions.source = type_classes.source
    and first_admissions.admission_type is not distinct from type_classes.admission_type
