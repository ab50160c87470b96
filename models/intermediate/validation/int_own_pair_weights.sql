{{ config(tags=['portable']) }}

with

own_pairs as (

    select * from {{ ref('int_own_pairs') }}

),

pair_visits as (

    select * from {{ ref('int_pair_visits') }}

),

visit_concepts as (

    select * from {{ ref('int_visit_concepts') }}

),

persons as (

    select distinct
        person_number,
        source,
        pair_window,
        person_group
    from pair_visits

),

weights as (

    select
        own_pairs.person_number,
        own_pairs.subject_cui_id,
        own_pairs.object_cui_id,
        sum(case when subjects.cui_id is not null then pair_visits.visit_weight else 0 end)
            as subject_weight,
        sum(case when objects.cui_id is not null then pair_visits.visit_weight else 0 end)
            as object_weight,
        sum(
            case
                when subjects.cui_id is not null and objects.cui_id is not null
                    then pair_visits.visit_weight
                else 0
            end
        ) as pair_weight
    from own_pairs
    inner join pair_visits
        on own_pairs.person_number = pair_visits.person_number
    left join visit_concepts as subjects
        on pair_visits.subject_visit_id = subjects.visit_id
        and own_pairs.subject_cui_id = subjects.cui_id
    left join visit_concepts as objects
        on pair_visits.object_visit_id = objects.visit_id
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
