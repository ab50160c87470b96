{{ config(tags=['portable']) }}

with

cohort_concepts as (

    select * from {{ ref('int_cohort_concepts') }}

),

concepts as (

    select * from {{ ref('int_concepts') }}

),

concept_links as (

    select * from {{ ref('int_concept_links') }}

),

concept_ancestors as (

    select * from {{ ref('int_concept_ancestors') }}

),

concept_equivalents as (

    select * from {{ ref('int_concept_equivalents') }}

),

concept_hubs as (

    select * from {{ ref('int_concept_hubs') }}

),

match_levels as (

    select * from {{ ref('match_levels') }}

),

expansions as (

    select
        cui_id,
        cui_id as matched_cui_id,
        'exact' as match_level
    from cohort_concepts

    union all

    select
        cui_id,
        equivalent_cui_id as matched_cui_id,
        'equivalent' as match_level
    from concept_equivalents

    union all

    select
        cohort_concepts.cui_id,
        concept_links.cui_id as matched_cui_id,
        'descendant' as match_level
    from cohort_concepts
    inner join concepts
        on cohort_concepts.cui_id = concepts.cui_id
        and concepts.is_unspecified
    inner join concept_hubs
        on cohort_concepts.cui_id = concept_hubs.cui_id
        and not concept_hubs.is_hub
    inner join concept_links
        on cohort_concepts.cui_id = concept_links.linked_cui_id
        and concept_links.link = 'parent'

    union all

    select
        concept_ancestors.cui_id,
        concept_ancestors.ancestor_cui_id as matched_cui_id,
        'ancestor' as match_level
    from concept_ancestors
    inner join concept_hubs
        on concept_ancestors.ancestor_cui_id = concept_hubs.cui_id
        and not concept_hubs.is_hub
    where concept_ancestors.depth = 1

),

-- A concept that matches at two levels matches at the narrower one.
narrowest as (

    select
        expansions.cui_id,
        expansions.matched_cui_id,
        min(match_levels.level_rank) as level_rank
    from expansions
    inner join match_levels
        on expansions.match_level = match_levels.match_level
    group by
        expansions.cui_id,
        expansions.matched_cui_id

)

select
    narrowest.cui_id,
    narrowest.matched_cui_id,
    match_levels.match_level,
    narrowest.level_rank,
    match_levels.n_steps
from narrowest
inner join match_levels
    on narrowest.level_rank = match_levels.level_rank
