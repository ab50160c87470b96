{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

visit_ids as (

    select * from {{ ref('int_visit_ids') }}

),

pair_visits as (

    select * from {{ ref('int_pair_visits') }}

)

select distinct
    pair_visits.person_number,
    triple_claims.subject_cui_id,
    triple_claims.object_cui_id
from triples
inner join triple_claims
    on triples.triple_id = triple_claims.triple_id
inner join visit_ids
    on triples.visit_key = visit_ids.visit_key
inner join pair_visits
    on visit_ids.visit_id = pair_visits.subject_visit_id
    and case when triples.target_visit_key is null then 'same_visit' else 'next_visit' end
        = pair_visits.pair_window
