{{ config(materialized='view') }}

-- The union point of the data classes of sources of patients, one row per loaded source.
select * from {{ ref('int_mimic_iv__data_class') }}
