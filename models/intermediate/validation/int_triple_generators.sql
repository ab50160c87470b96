{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

)

select distinct
    triples.triple_id,
    triple_proposals.generator,
    triples.source,
    triples.task,
    patients.person_group
from triples
inner join triple_proposals
    on triples.triple_id = triple_proposals.triple_id
inner join patients
    on triples.patient_key = patients.patient_key
where not {{ for_tests_only('triple_proposals.generator') }}
