{{ config(materialized='view') }}

-- Every code of the cohorts, whatever its system: the one table to join codes to concepts.
select * from {{ ref('int_icd_code_concepts') }}
union all
select * from {{ ref('int_other_code_concepts') }}
