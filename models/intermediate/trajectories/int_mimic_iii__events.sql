-- Source events of MIMIC-III, one row per admission x event type x code (drug text x NDC x route)
-- and reason to set rows aside. Aggregated before anything is joined but for the bad rows.
-- All codes are ICD-9. Procedures are undated. A start of an order is a day at its midnight: on
-- the day of admission it lies before the admission, on the day of discharge before the discharge,
-- and only a later day is after it, so such starts need no rule of their own.
with

diagnoses as (

    select * from {{ ref('stg_mimic_iii__diagnoses_icd') }}

),

procedures as (

    select * from {{ ref('stg_mimic_iii__procedures_icd') }}

),

prescriptions as (

    select * from {{ ref('stg_mimic_iii__prescriptions') }}

),

bad_rows as (

    select * from {{ ref('int_mimic_iii__bad_rows') }}
    where action = 'set_aside'

),

stay_rule as (

    select * from {{ ref('int_mimic_iii__stay_rule') }}
    where set_aside_reason is not null

),

diagnosis_titles as (

    select
        {{ normalize_icd('icd9_code', 9, 'diagnosis') }} as normalized_code,
        min(long_title) as long_title
    from {{ ref('stg_mimic_iii__d_icd_diagnoses') }}
    group by 1

),

procedure_titles as (

    select
        {{ normalize_icd('icd9_code', 9, 'procedure') }} as normalized_code,
        min(long_title) as long_title
    from {{ ref('stg_mimic_iii__d_icd_procedures') }}
    group by 1

),

diagnoses_aggregated as (

    select
        diagnoses.subject_id,
        diagnoses.hadm_id,
        diagnoses.icd9_code,
        {{ normalize_icd('diagnoses.icd9_code', 9, 'diagnosis') }} as normalized_code,
        bad_rows.reason,
        min(diagnoses.seq_num) as seq_num,
        count(*) as n_source_rows
    from diagnoses
    left join bad_rows
        on bad_rows.source_table = 'mimic_iii.diagnoses_icd'
        and diagnoses.source_row = bad_rows.row
    group by diagnoses.subject_id, diagnoses.hadm_id, diagnoses.icd9_code, bad_rows.reason

),

procedures_aggregated as (

    select
        procedures.subject_id,
        procedures.hadm_id,
        procedures.icd9_code,
        {{ normalize_icd('procedures.icd9_code', 9, 'procedure') }} as normalized_code,
        bad_rows.reason,
        count(*) as n_source_rows
    from procedures
    left join bad_rows
        on bad_rows.source_table = 'mimic_iii.procedures_icd'
        and procedures.source_row = bad_rows.row
    group by procedures.subject_id, procedures.hadm_id, procedures.icd9_code, bad_rows.reason

),

orders_aggregated as (

    select
        prescriptions.subject_id,
        prescriptions.hadm_id,
        prescriptions.drug,
        prescriptions.ndc,
        prescriptions.route,
        bad_rows.reason,
        min(prescriptions.startdate) as first_at,
        count(*) as n_source_rows
    from prescriptions
    left join bad_rows
        on bad_rows.source_table = 'mimic_iii.prescriptions'
        and prescriptions.source_row = bad_rows.row
    group by
        prescriptions.subject_id,
        prescriptions.hadm_id,
        prescriptions.drug,
        prescriptions.ndc,
        prescriptions.route,
        bad_rows.reason

),

diagnosis_events as (

    -- A code that the dictionary lacks has no title here and stays; rpt_cohort_attrition counts it.
    select
        diagnoses_aggregated.subject_id,
        diagnoses_aggregated.hadm_id,
        'diagnosis' as event_type,
        'ICD9CM' as code_system,
        diagnoses_aggregated.icd9_code as source_code,
        diagnoses_aggregated.normalized_code,
        diagnosis_titles.long_title as source_label,
        cast(null as varchar) as ndc,
        cast(null as varchar) as route,
        cast(null as timestamp) as first_at,
        diagnoses_aggregated.seq_num,
        diagnoses_aggregated.n_source_rows,
        diagnoses_aggregated.reason
    from diagnoses_aggregated
    left join diagnosis_titles
        on diagnoses_aggregated.normalized_code = diagnosis_titles.normalized_code

),

procedure_events as (

    select
        procedures_aggregated.subject_id,
        procedures_aggregated.hadm_id,
        'procedure' as event_type,
        'ICD9PROC' as code_system,
        procedures_aggregated.icd9_code as source_code,
        procedures_aggregated.normalized_code,
        procedure_titles.long_title as source_label,
        cast(null as varchar) as ndc,
        cast(null as varchar) as route,
        cast(null as timestamp) as first_at,
        cast(null as integer) as seq_num,
        procedures_aggregated.n_source_rows,
        procedures_aggregated.reason
    from procedures_aggregated
    left join procedure_titles
        on procedures_aggregated.normalized_code = procedure_titles.normalized_code

),

medication_events as (

    select
        subject_id,
        hadm_id,
        'medication' as event_type,
        'DRUG_TEXT' as code_system,
        drug as source_code,
        cast(null as varchar) as normalized_code,
        cast(null as varchar) as source_label,
        ndc,
        route,
        first_at,
        cast(null as integer) as seq_num,
        n_source_rows,
        reason
    from orders_aggregated

),

united as (

    select * from diagnosis_events
    union all
    select * from procedure_events
    union all
    select * from medication_events

)

select
    cast('mimic_iii' as varchar) as source,
    united.subject_id as patient_id,
    united.hadm_id as admission_id,
    united.event_type,
    united.code_system,
    united.source_code,
    united.normalized_code,
    united.source_label,
    united.ndc,
    united.route,
    united.first_at,
    united.seq_num,
    united.n_source_rows,
    coalesce(united.reason, stay_rule.set_aside_reason) as set_aside_reason
from united
left join stay_rule
    on united.subject_id = stay_rule.subject_id
