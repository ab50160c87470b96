{{ config(materialized='view') }}

-- The union point of all sources, fed by one model per source; a source without such records
-- feeds nothing.
select * from {{ ref('int_mimic_iv__administrations') }}
union all
select * from {{ ref('int_omop__administrations') }}
