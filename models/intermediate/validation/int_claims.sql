{{ config(tags=['portable']) }}

with

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

)

select distinct
    claim_key,
    subject_cui_id,
    relation,
    object_cui_id
from triple_claims
