{{ config(tags=['portable']) }}

with

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}

),

predications as (

    select * from {{ ref('int_predications_cleaned') }}

),

named_predications as (

    select
        predication_id,
        sentence_id,
        pmid,
        case when is_negated then concat('NEG_', predicate) else predicate end as predicate_or_rela,
        subject_cui_id,
        object_cui_id
    from predications

)

select
    hits.claim_key,
    hits.role,
    hits.strength,
    hits.predicate_or_rela,
    hits.edge_subject_cui_id,
    hits.edge_object_cui_id,
    hits.match_level,
    hits.level_rank,
    hits.is_inherited,
    named_predications.predication_id,
    named_predications.sentence_id,
    named_predications.pmid
from hits
inner join named_predications
    on hits.edge_subject_cui_id = named_predications.subject_cui_id
    and hits.edge_object_cui_id = named_predications.object_cui_id
    and hits.predicate_or_rela = named_predications.predicate_or_rela
where hits.kb = 'semmeddb'
