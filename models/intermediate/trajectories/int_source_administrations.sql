{{ config(materialized='view') }}
-- The union point of all sources. One model per source feeds it; a source without such records feeds nothing.
select * from {{ ref('int_mimic_iv__administrations') }}
