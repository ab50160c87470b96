{{ config(tags=['portable']) }}

with

cohort_concepts as (

    select * from {{ ref('int_cohort_concepts') }}

),

concept_links as (

    select * from {{ ref('int_concept_links') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}

),

icd_atoms as (

    select * from {{ ref('int_icd_atoms') }}

),

own_code_concepts as (

    select
        code_system,
        normalized_code,
        cui_id
    from code_concepts
    where mapping_level in ('exact', 'equivalent')
        and cui_id is not null

),

same_code as (

    select
        one.cui_id,
        other.cui_id as equivalent_cui_id
    from own_code_concepts as one
    inner join own_code_concepts as other
        on one.code_system = other.code_system
        and one.normalized_code = other.normalized_code
    where one.cui_id <> other.cui_id

),

-- Two codes that map to each other without approximation mean the same in both versions.
same_by_gem as (

    select
        own_code_concepts.cui_id,
        icd_atoms.cui_id as equivalent_cui_id
    from own_code_concepts
    inner join gem_targets
        on own_code_concepts.code_system = gem_targets.code_system
        and own_code_concepts.normalized_code = gem_targets.normalized_code
        and not gem_targets.is_approximate
        and not gem_targets.is_combination
    inner join icd_atoms
        on gem_targets.target_system = icd_atoms.code_system
        and gem_targets.target_code = icd_atoms.normalized_code
        and icd_atoms.mapping_method = 'exact_atom'
    where own_code_concepts.cui_id <> icd_atoms.cui_id

),

pairs as (

    select * from same_code

    union

    select * from same_by_gem

    union

    select
        cui_id,
        linked_cui_id as equivalent_cui_id
    from concept_links
    where link = 'equivalent'

)

select
    pairs.cui_id,
    pairs.equivalent_cui_id
from pairs
inner join cohort_concepts
    on pairs.cui_id = cohort_concepts.cui_id
