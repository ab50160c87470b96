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

-- Windows meet by number: their names are long, and the pairs of concepts many.
windows as (

    select
        source,
        pair_window,
        cast(row_number() over (order by source, pair_window) as integer) as window_number,
        count(distinct person_group) as n_persons
    from pair_visits
    group by
        source,
        pair_window

),

claims as (

    select
        windows.window_number,
        claim_pairs.subject_cui_id,
        claim_pairs.object_cui_id
    from claim_pairs
    inner join windows
        on claim_pairs.source = windows.source
        and claim_pairs.pair_window = windows.pair_window

),

claimed_subjects as (

    select distinct
        window_number,
        subject_cui_id as cui_id
    from claims

),

claimed_objects as (

    select distinct
        window_number,
        object_cui_id as cui_id
    from claims

),

numbered_pairs as (

    select
        windows.window_number,
        pair_visits.subject_visit_id,
        pair_visits.object_visit_id,
        pair_visits.visit_weight
    from pair_visits
    inner join windows
        on pair_visits.source = windows.source
        and pair_visits.pair_window = windows.pair_window

),

-- Only what some claim of the window is about, before any two concepts of a visit meet.
subjects as (

    select
        numbered_pairs.window_number,
        numbered_pairs.object_visit_id,
        visit_concepts.cui_id,
        sum(numbered_pairs.visit_weight) as weight
    from numbered_pairs
    inner join visit_concepts
        on numbered_pairs.subject_visit_id = visit_concepts.visit_id
    inner join claimed_subjects
        on numbered_pairs.window_number = claimed_subjects.window_number
        and visit_concepts.cui_id = claimed_subjects.cui_id
    group by
        numbered_pairs.window_number,
        numbered_pairs.object_visit_id,
        visit_concepts.cui_id

),

objects as (

    select distinct
        claimed_objects.window_number,
        visit_concepts.visit_id,
        visit_concepts.cui_id
    from visit_concepts
    inner join claimed_objects
        on visit_concepts.cui_id = claimed_objects.cui_id

),

-- The claims are looked up and not joined: a frequent subject has many claims, and each of its
-- visits would be read once for every one of them.
pair_weights as (

    select
        subjects.window_number,
        subjects.cui_id as subject_cui_id,
        objects.cui_id as object_cui_id,
        sum(subjects.weight) as weight
    from subjects
    inner join objects
        on subjects.window_number = objects.window_number
        and subjects.object_visit_id = objects.visit_id
    where exists (
        select 1
        from claims
        where claims.window_number = subjects.window_number
            and claims.subject_cui_id = subjects.cui_id
            and claims.object_cui_id = objects.cui_id
    )
    group by
        subjects.window_number,
        subjects.cui_id,
        objects.cui_id

),

numbered_weights as (

    select
        windows.window_number,
        concept_weights.side,
        concept_weights.cui_id,
        concept_weights.weight
    from concept_weights
    inner join windows
        on concept_weights.source = windows.source
        and concept_weights.pair_window = windows.pair_window

),

weighed as (

    select
        windows.source,
        windows.pair_window,
        claims.subject_cui_id,
        claims.object_cui_id,
        windows.n_persons,
        coalesce(subject_weights.weight, 0) as subject_weight,
        coalesce(object_weights.weight, 0) as object_weight,
        coalesce(pair_weights.weight, 0) as pair_weight
    from claims
    inner join windows
        on claims.window_number = windows.window_number
    left join numbered_weights as subject_weights
        on claims.window_number = subject_weights.window_number
        and claims.subject_cui_id = subject_weights.cui_id
        and subject_weights.side = 'subject'
    left join numbered_weights as object_weights
        on claims.window_number = object_weights.window_number
        and claims.object_cui_id = object_weights.cui_id
        and object_weights.side = 'object'
    left join pair_weights
        on claims.window_number = pair_weights.window_number
        and claims.subject_cui_id = pair_weights.subject_cui_id
        and claims.object_cui_id = pair_weights.object_cui_id

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
