{{ config(tags=['portable']) }}

with

relations as (

    select * from {{ ref('stg_umls__relations') }}

),

curated_relations as (

    select * from {{ ref('curated_relations') }}

),

kb_scope as (

    select * from {{ ref('int_kb_scope') }}

),

-- MRREL reads CUI2 RELA CUI1.
directed as (

    select
        {{ cui_id('case when curated_relations.is_inverse then relations.cui1'
            ~ ' else relations.cui2 end') }} as subject_cui_id,
        curated_relations.canonical_rela as rela,
        {{ cui_id('case when curated_relations.is_inverse then relations.cui2'
            ~ ' else relations.cui1 end') }} as object_cui_id,
        relations.sab,
        curated_relations.is_inverse
    from relations
    inner join curated_relations
        on relations.rela = curated_relations.rela
    where coalesce(relations.suppress, 'N') = 'N'
        and relations.cui1 <> relations.cui2

),

counted as (

    select
        subject_cui_id,
        rela,
        object_cui_id,
        sab,
        is_inverse,
        count(*) as n_rows
    from directed
    group by
        subject_cui_id,
        rela,
        object_cui_id,
        sab,
        is_inverse

),

-- A file that holds both directions states each fact twice; one that holds one, once.
merged as (

    select
        subject_cui_id,
        rela,
        object_cui_id,
        sab,
        cast(max(n_rows) as integer) as n_rows
    from counted
    group by
        subject_cui_id,
        rela,
        object_cui_id,
        sab

)

select
    merged.subject_cui_id,
    merged.rela,
    merged.object_cui_id,
    merged.sab,
    merged.n_rows
from merged
inner join kb_scope as subjects
    on merged.subject_cui_id = subjects.cui_id
inner join kb_scope as objects
    on merged.object_cui_id = objects.cui_id
