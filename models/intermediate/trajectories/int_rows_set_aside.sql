-- Rows of patients, admissions and events that are in no mart, counted by reason. With the rows
-- in the events they add up to the source (tests/core/assert_source_rows_are_conserved).
with

patients as (

    select * from {{ ref('int_source_patients') }}

),

admissions as (

    select * from {{ ref('int_source_admissions') }}

),

admissions_merged as (

    select * from {{ ref('int_admissions_merged') }}

),

events as (

    select * from {{ ref('int_events_mapped') }}

),

administration_rows as (

    select * from {{ ref('int_mimic_iv__administrations_set_aside') }}

),

patient_rows as (

    select
        source,
        'patients' as row_type,
        set_aside_reason as reason,
        count(*) as n_rows
    from patients
    where set_aside_reason is not null
    group by source, set_aside_reason

),

admission_rows as (

    select
        admissions.source,
        'admissions' as row_type,
        coalesce(admissions.set_aside_reason, 'unknown_patient') as reason,
        count(*) as n_rows
    from admissions
    left join admissions_merged
        on admissions.set_aside_reason is null
        and admissions.source = admissions_merged.source
        and admissions.admission_id = admissions_merged.admission_id
    where admissions_merged.admission_id is null
    group by admissions.source, coalesce(admissions.set_aside_reason, 'unknown_patient')

),

event_rows as (

    select
        source,
        event_type as row_type,
        set_aside_reason as reason,
        cast(sum(n_source_rows) as bigint) as n_rows
    from events
    where set_aside_reason is not null
    group by source, event_type, set_aside_reason

)

select * from patient_rows
union all
select * from admission_rows
union all
select * from event_rows
union all
select * from administration_rows
