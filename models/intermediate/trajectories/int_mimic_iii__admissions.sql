-- One row per admission row of MIMIC-III; rows that cannot be used, or whose patient the rule
-- mimic_iii_stays leaves out, keep their reason.
with

admissions as (

    select * from {{ ref('stg_mimic_iii__admissions') }}

),

bad_rows as (

    select * from {{ ref('int_mimic_iii__bad_rows') }}
    where source_table = 'mimic_iii.admissions'
        and action = 'set_aside'

),

stay_rule as (

    select * from {{ ref('int_mimic_iii__stay_rule') }}

)

select
    cast('mimic_iii' as varchar) as source,
    admissions.subject_id as patient_id,
    admissions.hadm_id as admission_id,
    admissions.admission_type,
    admissions.admittime as admitted_at,
    -- A stay without an end, or with one before its start, ends where it starts.
    greatest(coalesce(admissions.dischtime, admissions.admittime), admissions.admittime)
        as discharged_at,
    coalesce(bad_rows.reason, stay_rule.set_aside_reason) as set_aside_reason
from admissions
left join bad_rows
    on admissions.source_row = bad_rows.row
left join stay_rule
    on admissions.subject_id = stay_rule.subject_id
