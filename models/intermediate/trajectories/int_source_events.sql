{{ config(materialized='view') }}

-- The union point of all sources, fed by one model per source: the aggregate of the source's rows,
-- before any mapping.
select * from {{ ref('int_mimic_iv__events') }}
union all
select * from {{ ref('int_mimic_iii__events') }}
union all
select * from {{ ref('int_omop__events') }}
