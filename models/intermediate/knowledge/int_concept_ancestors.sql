{{ config(tags=['portable']) }}

with

cohort_concepts as (

    select * from {{ ref('int_cohort_concepts') }}

),

concept_links as (

    select * from {{ ref('int_concept_links') }}

),

parents as (

    select
        cui_id,
        linked_cui_id as parent_cui_id
    from concept_links
    where link = 'parent'

),

first_steps as (

    select
        cohort_concepts.cui_id,
        parents.parent_cui_id as ancestor_cui_id,
        1 as depth
    from cohort_concepts
    inner join parents
        on cohort_concepts.cui_id = parents.cui_id

),

second_steps as (

    select
        first_steps.cui_id,
        parents.parent_cui_id as ancestor_cui_id,
        2 as depth
    from first_steps
    inner join parents
        on first_steps.ancestor_cui_id = parents.cui_id
    where first_steps.cui_id <> parents.parent_cui_id

),

steps as (

    select * from first_steps
    union all
    select * from second_steps

)

select
    cui_id,
    ancestor_cui_id,
    min(depth) as depth
from steps
group by
    cui_id,
    ancestor_cui_id
