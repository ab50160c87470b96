{{ config(tags=['portable']) }}

with

claim_pairs as (

    select * from {{ ref('int_claim_pairs') }}

),

pair_visits as (

    select * from {{ ref('int_pair_visits') }}

),

visit_concepts as (

    select * from {{ ref('int_visit_concepts') }}

),

concept_weights as (

    select * from {{ ref('int_concept_weights') }}

),

persons as (

    select
        source,
        pair_window,
        count(distinct person_group) as n_persons
    from pair_visits
    group by
        source,
        pair_window

),

claimed_subjects as (

    select distinct subject_cui_id as cui_id
    from claim_pairs

),

claimed_objects as (

    select distinct object_cui_id as cui_id
    from claim_pairs

),

-- Only what some claim is about, before any two concepts of a visit meet.
subjects as (

    select
        visit_concepts.visit_key,
        visit_concepts.cui_id
    from visit_concepts
    inner join claimed_subjects
        on visit_concepts.cui_id = claimed_subjects.cui_id

),

objects as (

    select
        visit_concepts.visit_key,
        visit_concepts.cui_id
    from visit_concepts
    inner join claimed_objects
        on visit_concepts.cui_id = claimed_objects.cui_id

),

-- The claims are looked up and not joined: a frequent subject has many claims, and each of its
-- visits would be read once for every one of them.
pair_weights as (

    select
        pair_visits.source,
        pair_visits.pair_window,
        subjects.cui_id as subject_cui_id,
        objects.cui_id as object_cui_id,
        sum(pair_visits.visit_weight) as weight
    from pair_visits
    inner join subjects
        on pair_visits.subject_visit_key = subjects.visit_key
    inner join objects
        on pair_visits.object_visit_key = objects.visit_key
    where exists (
        select 1
        from claim_pairs
        where claim_pairs.subject_cui_id = subjects.cui_id
            and claim_pairs.object_cui_id = objects.cui_id
            and claim_pairs.source = pair_visits.source
            and claim_pairs.pair_window = pair_visits.pair_window
    )
    group by
        pair_visits.source,
        pair_visits.pair_window,
        subjects.cui_id,
        objects.cui_id

),

weighed as (

    select
        claim_pairs.source,
        claim_pairs.pair_window,
        claim_pairs.subject_cui_id,
        claim_pairs.object_cui_id,
        persons.n_persons,
        coalesce(subject_weights.weight, 0) as subject_weight,
        coalesce(object_weights.weight, 0) as object_weight,
        coalesce(pair_weights.weight, 0) as pair_weight
    from claim_pairs
    inner join persons
        on claim_pairs.source = persons.source
        and claim_pairs.pair_window = persons.pair_window
    left join concept_weights as subject_weights
        on claim_pairs.source = subject_weights.source
        and claim_pairs.pair_window = subject_weights.pair_window
        and claim_pairs.subject_cui_id = subject_weights.cui_id
        and subject_weights.side = 'subject'
    left join concept_weights as object_weights
        on claim_pairs.source = object_weights.source
        and claim_pairs.pair_window = object_weights.pair_window
        and claim_pairs.object_cui_id = object_weights.cui_id
        and object_weights.side = 'object'
    left join pair_weights
        on claim_pairs.source = pair_weights.source
        and claim_pairs.pair_window = pair_weights.pair_window
        and claim_pairs.subject_cui_id = pair_weights.subject_cui_id
        and claim_pairs.object_cui_id = pair_weights.object_cui_id

)

select
    source,
    pair_window,
    subject_cui_id,
    object_cui_id,
    cast(n_persons as bigint) as n_persons,
    cast(subject_weight as bigint) as subject_weight,
    cast(object_weight as bigint) as object_weight,
    cast(pair_weight as bigint) as pair_weight,
    {{ pair_lift('pair_weight', 'subject_weight', 'object_weight', 'n_persons') }} as lift
from weighed
