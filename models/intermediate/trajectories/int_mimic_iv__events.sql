-- Source events of MIMIC-IV, one row per admission x event type x code (drug text x NDC x route).
-- Aggregated before anything is joined: 20 M orders shrink to what differs.
with

diagnoses as (

    select * from {{ ref('stg_mimic_iv__diagnoses_icd') }}

),

procedures as (

    select * from {{ ref('stg_mimic_iv__procedures_icd') }}

),

prescriptions as (

    select * from {{ ref('stg_mimic_iv__prescriptions') }}

),

diagnosis_titles as (

    select
        {{ icd_code_system('icd_version', 'diagnosis') }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', 'diagnosis') }} as normalized_code,
        min(long_title) as long_title
    from {{ ref('stg_mimic_iv__d_icd_diagnoses') }}
    group by 1, 2

),

procedure_titles as (

    select
        {{ icd_code_system('icd_version', 'procedure') }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', 'procedure') }} as normalized_code,
        min(long_title) as long_title
    from {{ ref('stg_mimic_iv__d_icd_procedures') }}
    group by 1, 2

),

diagnoses_aggregated as (

    select
        subject_id,
        hadm_id,
        {{ icd_code_system('icd_version', 'diagnosis') }} as code_system,
        icd_code,
        {{ normalize_icd('icd_code', 'icd_version', 'diagnosis') }} as normalized_code,
        is_torn_line,
        min(seq_num) as seq_num,
        count(*) as n_source_rows
    from diagnoses
    group by subject_id, hadm_id, icd_version, icd_code, is_torn_line

),

procedures_aggregated as (

    select
        subject_id,
        hadm_id,
        {{ icd_code_system('icd_version', 'procedure') }} as code_system,
        icd_code,
        {{ normalize_icd('icd_code', 'icd_version', 'procedure') }} as normalized_code,
        chartdate,
        is_torn_line,
        count(*) as n_source_rows
    from procedures
    group by subject_id, hadm_id, icd_version, icd_code, chartdate, is_torn_line

),

orders_aggregated as (

    select
        subject_id,
        hadm_id,
        nullif(trim(drug), '') as drug_text,
        ndc,
        route,
        is_torn_line,
        min(starttime) as first_at,
        count(*) as n_source_rows
    from prescriptions
    group by subject_id, hadm_id, nullif(trim(drug), ''), ndc, route, is_torn_line

),

diagnosis_events as (

    -- Diagnoses are coded at discharge, so they have no time of their own.
    -- The dictionary's key is (code, version): 493 codes exist in both with another meaning.
    select
        diagnoses_aggregated.subject_id as patient_id,
        diagnoses_aggregated.hadm_id as admission_id,
        'diagnosis' as event_type,
        diagnoses_aggregated.code_system,
        diagnoses_aggregated.icd_code as source_code,
        diagnoses_aggregated.normalized_code,
        diagnosis_titles.long_title as source_label,
        cast(null as varchar) as ndc,
        cast(null as varchar) as route,
        cast(null as timestamp) as first_at,
        diagnoses_aggregated.seq_num,
        diagnoses_aggregated.n_source_rows,
        diagnoses_aggregated.is_torn_line
    from diagnoses_aggregated
    left join diagnosis_titles
        on diagnoses_aggregated.code_system = diagnosis_titles.code_system
        and diagnoses_aggregated.normalized_code = diagnosis_titles.normalized_code

),

procedure_events as (

    select
        procedures_aggregated.subject_id as patient_id,
        procedures_aggregated.hadm_id as admission_id,
        'procedure' as event_type,
        procedures_aggregated.code_system,
        procedures_aggregated.icd_code as source_code,
        procedures_aggregated.normalized_code,
        procedure_titles.long_title as source_label,
        cast(null as varchar) as ndc,
        cast(null as varchar) as route,
        procedures_aggregated.chartdate as first_at,
        cast(null as integer) as seq_num,
        procedures_aggregated.n_source_rows,
        procedures_aggregated.is_torn_line
    from procedures_aggregated
    left join procedure_titles
        on procedures_aggregated.code_system = procedure_titles.code_system
        and procedures_aggregated.normalized_code = procedure_titles.normalized_code

),

medication_events as (

    select
        subject_id as patient_id,
        hadm_id as admission_id,
        'medication' as event_type,
        'DRUG_TEXT' as code_system,
        drug_text as source_code,
        cast(null as varchar) as normalized_code,
        cast(null as varchar) as source_label,
        ndc,
        route,
        first_at,
        cast(null as integer) as seq_num,
        n_source_rows,
        is_torn_line
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
    cast('mimic_iv' as varchar) as source,
    patient_id,
    admission_id,
    event_type,
    code_system,
    source_code,
    normalized_code,
    source_label,
    ndc,
    route,
    first_at,
    seq_num,
    n_source_rows,
    case
        when is_torn_line then 'torn_line'
        {{ mimic_key_reasons({'patient_id': 'subject_id', 'admission_id': 'hadm_id'}) }}
        when event_type = 'medication' and source_code is null then 'missing_drug_text'
        when event_type <> 'medication' and coalesce(source_code, '') = '' then 'missing_code'
        when code_system is null then 'unknown_code_version'
        when event_type <> 'medication' and normalized_code is null then 'missing_code'
    end as set_aside_reason
from united
