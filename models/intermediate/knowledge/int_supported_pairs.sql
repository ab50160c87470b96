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
    inner join concept_expansions as subjects
        on supporting.subject_cui_id = subjects.matched_cui_id
    inner join concept_expansions as objects
        on supporting.object_cui_id = objects.matched_cui_id
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
