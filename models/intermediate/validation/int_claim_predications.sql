{{ config(materialized='view', tags=['portable']) }}

with

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}

),

predications as (

    select * from {{ ref('int_predications_cleaned') }}

),

-- The names are taken apart on the side of the hits: predications are many.
named_hits as (

    select
        *,
        {{ predicate_parts('predicate_or_rela') }}
    from hits
    where kb = 'semmeddb'

)

select
    named_hits.claim_key,
    named_hits.role,
    named_hits.strength,
    named_hits.predicate_or_rela,
    named_hits.edge_subject_cui_id,
    named_hits.edge_object_cui_id,
    named_hits.match_level,
    named_hits.level_rank,
    named_hits.is_inherited,
    predications.predication_id,
    predications.sentence_id,
    predications.pmid
from named_hits
inner join predications
    on named_hits.edge_subject_cui_id = predications.subject_cui_id
    and named_hits.edge_object_cui_id = predications.object_cui_id
    and named_hits.predicate = predications.predicate
    and named_hits.is_negated = predications.is_negated
