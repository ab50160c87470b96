{{ config(materialized='view') }}

-- The union point of all sources, fed by one model per source (source, patient_id, admission_id,
-- admission_type, admitted_at, discharged_at, set_aside_reason).
select * from {{ ref('int_mimic_iv__admissions') }}
union all
select * from {{ ref('int_mimic_iii__admissions') }}
union all
select * from {{ ref('int_omop__admissions') }}
