{{ config(materialized='view', tags=['portable']) }}

with

predications as (

    select * from {{ ref('stg_semmeddb__predications') }}

),

generic_concepts as (

    select * from {{ ref('stg_semmeddb__generic_concepts') }}

),

retired_cuis as (

    select * from {{ ref('int_retired_cuis') }}

),

duplicate_rows as (

    select * from {{ ref('int_semmeddb__duplicate_rows') }}
    where source_table = 'semmeddb.predication'

),

generic as (

    select distinct {{ cui_id('cui') }} as cui_id
    from generic_concepts

),

parsed as (

    select
        predication_id,
        sentence_id,
        pmid,
        predicate_name,
        subject_cui,
        object_cui,
        subject_cui_id,
        object_cui_id,
        subject_novelty,
        object_novelty,
        source_row
    from predications

),

resolved as (

    select
        parsed.predication_id,
        parsed.sentence_id,
        parsed.pmid,
        parsed.predicate_name,
        parsed.subject_cui,
        parsed.object_cui,
        parsed.subject_novelty,
        parsed.object_novelty,
        parsed.source_row,
        coalesce(subject_successors.replacement_cui_id, parsed.subject_cui_id) as subject_cui_id,
        coalesce(object_successors.replacement_cui_id, parsed.object_cui_id) as object_cui_id
    from parsed
    left join retired_cuis as subject_successors
        on parsed.subject_cui_id = subject_successors.cui_id
    left join retired_cuis as object_successors
        on parsed.object_cui_id = object_successors.cui_id

)

select
    resolved.predication_id,
    resolved.sentence_id,
    resolved.pmid,
    {{ predicate_parts('resolved.predicate_name') }},
    resolved.subject_cui_id,
    resolved.object_cui_id,
    case
        when resolved.predication_id is null
            or resolved.sentence_id is null
            or resolved.pmid is null
            or resolved.predicate_name is null
            or resolved.subject_cui is null
            or resolved.object_cui is null
            then 'torn_line'
        when duplicate_rows.source_row is not null
            then 'duplicate_key'
        when {{ is_malformed_cui('resolved.subject_cui', 'resolved.subject_cui_id') }}
            or {{ is_malformed_cui('resolved.object_cui', 'resolved.object_cui_id') }}
            then 'malformed_cui'
        when resolved.subject_cui_id is null
            or resolved.object_cui_id is null
            then 'gene_id_without_cui'
        when resolved.subject_novelty = 0
            or resolved.object_novelty = 0
            or generic_subjects.cui_id is not null
            or generic_objects.cui_id is not null
            then 'generic_argument'
        when resolved.subject_cui_id = resolved.object_cui_id
            then 'same_concept'
    end as reason
from resolved
left join generic as generic_subjects
    on resolved.subject_cui_id = generic_subjects.cui_id
left join generic as generic_objects
    on resolved.object_cui_id = generic_objects.cui_id
left join duplicate_rows
    on resolved.source_row = duplicate_rows.source_row
