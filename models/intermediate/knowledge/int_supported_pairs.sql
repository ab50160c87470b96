{{ config(tags=['portable']) }}

with

edge_roles as (

    select * from {{ ref('int_edge_roles') }}

),

concept_expansions as (

    select * from {{ ref('int_concept_expansions') }}

),

match_levels as (

    select * from {{ ref('match_levels') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

relations as (

    select * from {{ ref('relations') }}

),

concept_types as (

    select distinct
        event_concepts.cui_id,
        visit_events.event_type
    from event_concepts
    inner join visit_events
        on event_concepts.event_key = visit_events.event_key
    where event_concepts.cui_id is not null

),

-- Only concepts of the event types that a relation joins can ever be its ends.
subject_expansions as (

    select distinct
        relations.relation,
        concept_expansions.cui_id,
        concept_expansions.matched_cui_id,
        concept_expansions.level_rank,
        concept_expansions.n_steps
    from relations
    inner join concept_types
        on relations.subject_type = concept_types.event_type
    inner join concept_expansions
        on concept_types.cui_id = concept_expansions.cui_id

),

object_expansions as (

    select distinct
        relations.relation,
        concept_expansions.cui_id,
        concept_expansions.matched_cui_id,
        concept_expansions.level_rank,
        concept_expansions.n_steps
    from relations
    inner join concept_types
        on relations.object_type = concept_types.event_type
    inner join concept_expansions
        on concept_types.cui_id = concept_expansions.cui_id

),

supporting as (

    select distinct
        relation,
        strength,
        subject_cui_id,
        object_cui_id
    from edge_roles
    where role = 'support'
        and strength <> 'weak'

),

pairs as (

    select
        supporting.relation,
        supporting.strength,
        subjects.cui_id as subject_cui_id,
        objects.cui_id as object_cui_id,
        min(
            case
                when subjects.level_rank > objects.level_rank then subjects.level_rank
                else objects.level_rank
            end
        ) as level_rank
    from supporting
    inner join subject_expansions as subjects
        on supporting.relation = subjects.relation
        and supporting.subject_cui_id = subjects.matched_cui_id
    inner join object_expansions as objects
        on supporting.relation = objects.relation
        and supporting.object_cui_id = objects.matched_cui_id
    where subjects.n_steps + objects.n_steps <= 1
        and subjects.cui_id <> objects.cui_id
    group by
        supporting.relation,
        supporting.strength,
        subjects.cui_id,
        objects.cui_id

)

select
    pairs.relation,
    pairs.subject_cui_id,
    pairs.object_cui_id,
    pairs.strength,
    match_levels.match_level
from pairs
inner join match_levels
    on pairs.level_rank = match_levels.level_rank
