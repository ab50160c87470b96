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

visit_numbers as (

    select * from {{ ref('int_visit_numbers') }}

),

visit_concepts as (

    select * from {{ ref('int_visit_concepts') }}

),

-- Persons and visits meet by number: their keys are long, and each pair is looked up in every visit
-- of its person.
persons as (

    select
        source,
        pair_window,
        person_group,
        cast(row_number() over (order by source, pair_window, person_group) as integer)
            as person_number
    from pair_visits
    group by
        source,
        pair_window,
        person_group

),

own_pairs as (

    select distinct
        persons.person_number,
        triple_claims.subject_cui_id,
        triple_claims.object_cui_id
    from triples
    inner join triple_claims
        on triples.triple_id = triple_claims.triple_id
    inner join visits
        on triples.visit_key = visits.visit_key
    inner join persons
        on triples.source = persons.source
        and case when triples.target_visit_key is null then 'same_visit' else 'next_visit' end
            = persons.pair_window
        and visits.person_group = persons.person_group

),

numbered_pairs as (

    select
        persons.person_number,
        subjects.visit_number as subject_visit_number,
        objects.visit_number as object_visit_number,
        pair_visits.visit_weight
    from pair_visits
    inner join persons
        on pair_visits.source = persons.source
        and pair_visits.pair_window = persons.pair_window
        and pair_visits.person_group = persons.person_group
    inner join visit_numbers as subjects
        on pair_visits.subject_visit_key = subjects.visit_key
    inner join visit_numbers as objects
        on pair_visits.object_visit_key = objects.visit_key

),

numbered_concepts as (

    select
        visit_numbers.visit_number,
        visit_concepts.cui_id
    from visit_concepts
    inner join visit_numbers
        on visit_concepts.visit_key = visit_numbers.visit_key

),

weights as (

    select
        own_pairs.person_number,
        own_pairs.subject_cui_id,
        own_pairs.object_cui_id,
        sum(case when subjects.cui_id is not null then numbered_pairs.visit_weight else 0 end)
            as subject_weight,
        sum(case when objects.cui_id is not null then numbered_pairs.visit_weight else 0 end)
            as object_weight,
        sum(
            case
                when subjects.cui_id is not null and objects.cui_id is not null
                    then numbered_pairs.visit_weight
                else 0
            end
        ) as pair_weight
    from own_pairs
    inner join numbered_pairs
        on own_pairs.person_number = numbered_pairs.person_number
    left join numbered_concepts as subjects
        on numbered_pairs.subject_visit_number = subjects.visit_number
        and own_pairs.subject_cui_id = subjects.cui_id
    left join numbered_concepts as objects
        on numbered_pairs.object_visit_number = objects.visit_number
        and own_pairs.object_cui_id = objects.cui_id
    group by
        own_pairs.person_number,
        own_pairs.subject_cui_id,
        own_pairs.object_cui_id

)

select
    persons.source,
    persons.pair_window,
    persons.person_group,
    weights.subject_cui_id,
    weights.object_cui_id,
    cast(weights.subject_weight as bigint) as subject_weight,
    cast(weights.object_weight as bigint) as object_weight,
    cast(weights.pair_weight as bigint) as pair_weight
from weights
inner join persons
    on weights.person_number = persons.person_number
