-- One row per admission row of MIMIC-IV; rows that cannot be used keep their reason.
with

admissions as (

    select * from {{ ref('stg_mimic_iv__admissions') }}

),

numbered as (

    select
        *,
        row_number() over (
            partition by hadm_id
            order by admittime, dischtime, subject_id, admission_type
        ) as copy_number
    from admissions

)

select
    cast('mimic_iv' as varchar) as source,
    subject_id as patient_id,
    hadm_id as admission_id,
    admission_type,
    admittime as admitted_at,
    -- A stay without an end, or with one before its start, ends where it starts.
    greatest(coalesce(dischtime, admittime), admittime) as discharged_at,
    case
        when is_torn_line then 'torn_line'
        {{ mimic_key_reasons({'subject_id': 'subject_id', 'hadm_id': 'hadm_id'}) }}
        when unreadable_columns like '%admittime%' then 'unreadable_date'
        when admittime is null then 'missing_time'
        when copy_number > 1 then 'duplicate_key'
    end as set_aside_reason
from numbered
