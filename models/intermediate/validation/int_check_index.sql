{{ config(materialized='view', tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

validation_checks as (

    select * from {{ ref('validation_checks') }}

)

select
    triples.triple_id,
    validation_checks.check_name
from triples
cross join validation_checks
