{{ config(materialized='view') }}
-- The union point of all sources. One model per source feeds it (columns: source, patient_id, admission_id,
-- admission_type, admitted_at, discharged_at, set_aside_reason).
select * from {{ ref('int_mimic_iv__admissions') }}
