{{ config(materialized='view') }}

-- The union point of all sources, fed by one model per source (source, patient_id, person_id, sex,
-- birth_year, set_aside_reason).
select * from {{ ref('int_mimic_iv__patients') }}
union all
select * from {{ ref('int_mimic_iii__patients') }}
union all
select * from {{ ref('int_omop__patients') }}
