{{ config(materialized='view') }}
-- The union point of all sources. One model per source feeds it; no mapping yet, the aggregate of the source's rows.
select * from {{ ref('int_mimic_iv__events') }}
