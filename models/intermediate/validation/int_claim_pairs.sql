{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

)

select distinct
    triples.source,
    case when triples.target_visit_key is null then 'same_visit' else 'next_visit' end
        as pair_window,
    triple_claims.subject_cui_id,
    triple_claims.object_cui_id
from triples
inner join triple_claims
    on triples.triple_id = triple_claims.triple_id
