{{ config(tags=['portable']) }}

with

predications as (

    select * from {{ ref('stg_semmeddb__predications') }}

),

relations as (

    select * from {{ ref('stg_umls__relations') }}

)

select
    'semmeddb' as kb,
    count(*) as n_rows,
    count(*) > 0 as is_loaded
from predications

union all

select
    'umls' as kb,
    count(*) as n_rows,
    count(*) > 0 as is_loaded
from relations
