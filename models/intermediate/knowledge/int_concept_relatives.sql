{{ config(tags=['portable']) }}

with

cohort_concepts as (

    select * from {{ ref('int_cohort_concepts') }}

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

concept_links as (

    select * from {{ ref('int_concept_links') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}

),

atc_kinds as (

    select * from {{ ref('atc_kinds') }}

),

parents as (

    select
        cui_id,
        linked_cui_id as parent_cui_id
    from concept_links
    where link = 'parent'

),

-- The descendants of a hub outside the cohort are many and no use.
narrow_concepts as (

    select concept_hubs.cui_id
    from concept_hubs
    inner join cohort_concepts
        on concept_hubs.cui_id = cohort_concepts.cui_id
    where not concept_hubs.is_hub

),

{{ hierarchy_steps('descendants', 'narrow_concepts', 'parents', 'parent_cui_id', 'cui_id',
    var('hierarchy_depth')) }},

cohort_descendants as (

    select
        concept_ancestors.ancestor_cui_id as cui_id,
        concept_ancestors.cui_id as descendant_cui_id
    from concept_ancestors
    inner join cohort_concepts
        on concept_ancestors.ancestor_cui_id = cohort_concepts.cui_id

),

siblings as (

    select
        concept_ancestors.cui_id,
        parents.cui_id as sibling_cui_id
    from concept_ancestors
    inner join concept_hubs
        on concept_ancestors.ancestor_cui_id = concept_hubs.cui_id
        and not concept_hubs.is_hub
    inner join parents
        on concept_ancestors.ancestor_cui_id = parents.parent_cui_id
    where concept_ancestors.depth = 1
        and concept_ancestors.cui_id <> parents.cui_id

),

-- Drugs of one class mostly do the same, so one is no wrong answer beside the other.
shared_classes as (

    select
        drug_classes.cui_id,
        drug_classes.atc_code
    from drug_classes
    left join atc_kinds
        on drug_classes.atc_code = atc_kinds.atc_code
    where drug_classes.level = {{ var('class_relative_level') }}
        or atc_kinds.atc_code is not null

),

same_class as (

    select distinct
        one.cui_id,
        other.cui_id as sibling_cui_id
    from shared_classes as one
    inner join shared_classes as other
        on one.atc_code = other.atc_code
    where one.cui_id <> other.cui_id

),

relatives as (

    select
        cui_id,
        cui_id as relative_cui_id,
        'self' as relation
    from cohort_concepts

    union

    select
        cui_id,
        ancestor_cui_id as relative_cui_id,
        'ancestor' as relation
    from concept_ancestors

    union

    select
        cui_id,
        reached_cui_id as relative_cui_id,
        'descendant' as relation
    from descendants

    union

    select
        cui_id,
        descendant_cui_id as relative_cui_id,
        'descendant' as relation
    from cohort_descendants

    union

    select
        cui_id,
        sibling_cui_id as relative_cui_id,
        'sibling' as relation
    from siblings

    union

    select
        cui_id,
        equivalent_cui_id as relative_cui_id,
        'equivalent' as relation
    from concept_equivalents

    union

    select
        cui_id,
        sibling_cui_id as relative_cui_id,
        'same_class' as relation
    from same_class

)

select * from relatives
