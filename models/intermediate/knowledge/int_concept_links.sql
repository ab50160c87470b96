{{ config(tags=['portable']) }}

with

relations as (

    select * from {{ ref('stg_umls__relations') }}

),

concept_relations as (

    select * from {{ ref('concept_relations') }}

),

icd_tree_links as (

    select * from {{ ref('int_icd_tree_links') }}

),

hierarchical_relas as (

    select relation_name as rela
    from concept_relations
    where relation_column = 'rela'

),

usable_relations as (

    select
        {{ cui_id('relations.cui1') }} as first_cui_id,
        {{ cui_id('relations.cui2') }} as second_cui_id,
        relations.rel,
        relations.rela
    from relations
    where coalesce(relations.suppress, 'N') = 'N'
        and relations.cui1 <> relations.cui2

),

-- A REL with another RELA (part_of, has_tradename ...) is no hierarchy of diseases or drugs.
links_by_rel as (

    select
        usable_relations.first_cui_id,
        usable_relations.second_cui_id,
        concept_relations.meaning
    from usable_relations
    inner join concept_relations
        on usable_relations.rel = concept_relations.relation_name
        and concept_relations.relation_column = 'rel'
    left join hierarchical_relas
        on usable_relations.rela = hierarchical_relas.rela
    where usable_relations.rela is null
        or hierarchical_relas.rela is not null

),

links_by_rela as (

    select
        usable_relations.first_cui_id,
        usable_relations.second_cui_id,
        concept_relations.meaning
    from usable_relations
    inner join concept_relations
        on usable_relations.rela = concept_relations.relation_name
        and concept_relations.relation_column = 'rela'

),

links as (

    select * from links_by_rel
    union all
    select * from links_by_rela

),

directed as (

    select
        'parent' as link,
        case when meaning = 'first_is_parent' then second_cui_id else first_cui_id end as cui_id,
        case
            when meaning = 'first_is_parent' then first_cui_id else second_cui_id
        end as linked_cui_id
    from links
    where meaning <> 'equivalent'

    union all

    select
        'parent' as link,
        cui_id,
        parent_cui_id as linked_cui_id
    from icd_tree_links

    union all

    select
        'equivalent' as link,
        first_cui_id as cui_id,
        second_cui_id as linked_cui_id
    from links
    where meaning = 'equivalent'

    union all

    select
        'equivalent' as link,
        second_cui_id as cui_id,
        first_cui_id as linked_cui_id
    from links
    where meaning = 'equivalent'

)

select distinct
    link,
    cui_id,
    linked_cui_id
from directed
where cui_id is not null
    and linked_cui_id is not null
