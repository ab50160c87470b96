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

{{ hierarchy_steps('ancestors', 'cohort_concepts', 'parents', 'cui_id', 'parent_cui_id',
    var('hierarchy_depth')) }}

select
    cui_id,
    reached_cui_id as ancestor_cui_id,
    depth
from ancestors
