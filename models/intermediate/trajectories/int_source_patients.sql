{{ config(materialized='view') }}
-- The union point of all sources. One model per source feeds it (columns: source, patient_id, person_id, sex, birth_year,
-- set_aside_reason).
select * from {{ ref('int_mimic_iv__patients') }}
