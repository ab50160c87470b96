{{ config(materialized='view', tags=['portable']) }}

with

edges as (

    select * from {{ ref('int_edges') }}

),

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

),

predicate_map as (

    select * from {{ ref('predicate_map') }}

),

all_edges as (

    select
        'semmeddb' as kb,
        case when is_negated then concat('NEG_', predicate) else predicate end as predicate_or_rela,
        subject_cui_id,
        object_cui_id,
        n_pmids,
        n_sentences as n_rows
    from edges

    union all

    -- One row per vocabulary that states it.
    select
        'umls' as kb,
        rela as predicate_or_rela,
        subject_cui_id,
        object_cui_id,
        0 as n_pmids,
        cast(count(*) as integer) as n_rows
    from curated_edges
    group by
        rela,
        subject_cui_id,
        object_cui_id

),

mapped as (

    select
        predicate_map.relation,
        predicate_map.role,
        predicate_map.strength,
        predicate_map.direction,
        all_edges.kb,
        all_edges.predicate_or_rela,
        all_edges.subject_cui_id as edge_subject_cui_id,
        all_edges.object_cui_id as edge_object_cui_id,
        all_edges.n_pmids,
        all_edges.n_rows
    from all_edges
    inner join predicate_map
        on all_edges.kb = predicate_map.kb
        and all_edges.predicate_or_rela = predicate_map.predicate_or_rela

)

select
    relation,
    edge_subject_cui_id as subject_cui_id,
    edge_object_cui_id as object_cui_id,
    role,
    strength,
    kb,
    predicate_or_rela,
    edge_subject_cui_id,
    edge_object_cui_id,
    n_pmids,
    n_rows
from mapped
where direction in ('same', 'either')

union all

select
    relation,
    edge_object_cui_id as subject_cui_id,
    edge_subject_cui_id as object_cui_id,
    role,
    strength,
    kb,
    predicate_or_rela,
    edge_subject_cui_id,
    edge_object_cui_id,
    n_pmids,
    n_rows
from mapped
where direction in ('reversed', 'either')
