{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

pair_visits as (

    select * from {{ ref('int_pair_visits') }}

),

visit_concepts as (

    select * from {{ ref('int_visit_concepts') }}

),

own_pairs as (

    select distinct
        triples.source,
        case when triples.target_visit_key is null then 'same_visit' else 'next_visit' end
            as pair_window,
        visits.person_group,
        triple_claims.subject_cui_id,
        triple_claims.object_cui_id
    from triples
    inner join triple_claims
        on triples.triple_id = triple_claims.triple_id
    inner join visits
        on triples.visit_key = visits.visit_key

)

select
    own_pairs.source,
    own_pairs.pair_window,
    own_pairs.person_group,
    own_pairs.subject_cui_id,
    own_pairs.object_cui_id,
    cast(sum(
        case when subjects.cui_id is not null then pair_visits.visit_weight else 0 end
    ) as bigint) as subject_weight,
    cast(sum(
        case when objects.cui_id is not null then pair_visits.visit_weight else 0 end
    ) as bigint) as object_weight,
    cast(sum(
        case
            when subjects.cui_id is not null and objects.cui_id is not null
                then pair_visits.visit_weight
            else 0
        end
    ) as bigint) as pair_weight
from own_pairs
inner join pair_visits
    on own_pairs.source = pair_visits.source
    and own_pairs.pair_window = pair_visits.pair_window
    and own_pairs.person_group = pair_visits.person_group
left join visit_concepts as subjects
    on pair_visits.subject_visit_key = subjects.visit_key
    and own_pairs.subject_cui_id = subjects.cui_id
left join visit_concepts as objects
    on pair_visits.object_visit_key = objects.visit_key
    and own_pairs.object_cui_id = objects.cui_id
group by
    own_pairs.source,
    own_pairs.pair_window,
    own_pairs.person_group,
    own_pairs.subject_cui_id,
    own_pairs.object_cui_id
