{{ config(materialized='view') }}

-- The union point of the data classes of sources of patients, one row per loaded source.
select * from {{ ref('int_mimic_iv__data_class') }}
union all
select * from {{ ref('int_mimic_iii__data_class') }}
union all
select * from {{ ref('int_omop__data_class') }}
