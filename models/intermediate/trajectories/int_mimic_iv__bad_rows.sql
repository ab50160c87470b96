{{ config(materialized='view') }}

-- Rows of MIMIC-IV that cannot be used (set_aside) or are used without what was wrong (repaired).
-- The models of patients, admissions and events set the same rows aside for the same reasons
-- (tests/core/assert_bad_rows_are_counted).
with

patients as (

    select * from {{ ref('stg_mimic_iv__patients') }}

),

admissions as (

    select * from {{ ref('stg_mimic_iv__admissions') }}

),

diagnoses as (

    select * from {{ ref('stg_mimic_iv__diagnoses_icd') }}

),

procedures as (

    select * from {{ ref('stg_mimic_iv__procedures_icd') }}

),

prescriptions as (

    select * from {{ ref('stg_mimic_iv__prescriptions') }}

),

patients_judged as (

    select
        'patients' as table_name,
        source_file,
        source_row,
        case
            when is_torn_line then 'torn_line'
            {{ mimic_key_reasons({'subject_id': 'subject_id'}) }}
            when row_number() over (
                partition by subject_id
                order by anchor_year, anchor_age, gender, anchor_year_group, dod, source_row
            ) > 1 then 'duplicate_key'
        end as set_aside_reason,
        case
            when unreadable_columns like '%anchor%' then 'unreadable_number'
            when unreadable_columns is not null then 'unreadable_date'
        end as repair_reason
    from patients

),

admissions_judged as (

    select
        'admissions' as table_name,
        source_file,
        source_row,
        case
            when is_torn_line then 'torn_line'
            {{ mimic_key_reasons({'subject_id': 'subject_id', 'hadm_id': 'hadm_id'}) }}
            when unreadable_columns like '%admittime%' then 'unreadable_date'
            when admittime is null then 'missing_time'
            when row_number() over (
                partition by hadm_id
                order by admittime, dischtime, subject_id, admission_type, source_row
            ) > 1 then 'duplicate_key'
        end as set_aside_reason,
        -- Such a stay ends where it starts.
        case
            when unreadable_columns is not null then 'unreadable_date'
            when dischtime is null then 'missing_time'
            when dischtime < admittime then 'end_before_start'
        end as repair_reason
    from admissions

),

{%- for table_name, relation, code_kind in [('diagnoses_icd', 'diagnoses', 'diagnosis'),
    ('procedures_icd', 'procedures', 'procedure')] %}

{{ relation }}_judged as (

    select
        '{{ table_name }}' as table_name,
        source_file,
        source_row,
        case
            when is_torn_line then 'torn_line'
            {{ mimic_key_reasons({'subject_id': 'subject_id', 'hadm_id': 'hadm_id'}) }}
            when coalesce(icd_code, '') = '' then 'missing_code'
            when {{ icd_code_system('icd_version', code_kind) }} is null
                then 'unknown_code_version'
            when {{ normalize_icd('icd_code', 'icd_version', code_kind) }} is null
                then 'missing_code'
        end as set_aside_reason,
        case
            when unreadable_columns like '%chartdate%' then 'unreadable_date'
            when unreadable_columns is not null then 'unreadable_number'
        end as repair_reason
    from {{ relation }}

),
{%- endfor %}

prescriptions_judged as (

    select
        'prescriptions' as table_name,
        source_file,
        source_row,
        case
            when is_torn_line then 'torn_line'
            {{ mimic_key_reasons({'subject_id': 'subject_id', 'hadm_id': 'hadm_id'}) }}
            when nullif(trim(drug), '') is null then 'missing_drug_text'
        end as set_aside_reason,
        -- The order is kept without a start.
        case when unreadable_columns is not null then 'unreadable_date' end as repair_reason
    from prescriptions

),

united as (

    select * from patients_judged
    union all
    select * from admissions_judged
    union all
    select * from diagnoses_judged
    union all
    select * from procedures_judged
    union all
    select * from prescriptions_judged

)

select
    concat('mimic_iv.', table_name) as source_table,
    source_file as file,
    source_row as row,
    coalesce(set_aside_reason, repair_reason) as reason,
    case when set_aside_reason is not null then 'set_aside' else 'repaired' end as action
from united
where coalesce(set_aside_reason, repair_reason) is not null
