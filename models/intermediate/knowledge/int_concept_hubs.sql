{{ config(tags=['portable']) }}

with

cohort_concepts as (

    select * from {{ ref('int_cohort_concepts') }}

),

concept_ancestors as (

    select * from {{ ref('int_concept_ancestors') }}

),

concept_links as (

    select * from {{ ref('int_concept_links') }}

),

rollup_stop as (

    select * from {{ ref('rollup_stop') }}

),

stop_concepts as (

    select distinct {{ cui_id('cui') }} as cui_id
    from rollup_stop

),

parents as (

    select
        cui_id,
        linked_cui_id as parent_cui_id
    from concept_links
    where link = 'parent'

),

candidates as (

    select cui_id from cohort_concepts
    union
    select ancestor_cui_id as cui_id from concept_ancestors

),

-- Two steps whatever the depth of the hierarchy: a hub is what is wide near itself, and the roots
-- of a licensed vocabulary have millions of descendants further down.
{{ hierarchy_steps('descendants', 'candidates', 'parents', 'parent_cui_id', 'cui_id', 2) }},

descendant_counts as (

    select
        cui_id,
        count(*) as n_descendants
    from descendants
    group by cui_id

)

select
    candidates.cui_id,
    cast(coalesce(descendant_counts.n_descendants, 0) as integer) as n_descendants,
    coalesce(descendant_counts.n_descendants, 0) > {{ var('rollup_max_descendants') }}
        or stop_concepts.cui_id is not null as is_hub
from candidates
left join descendant_counts
    on candidates.cui_id = descendant_counts.cui_id
left join stop_concepts
    on candidates.cui_id = stop_concepts.cui_id
