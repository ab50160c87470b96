{{ config(tags=['portable']) }}

with

predications as (

    select * from {{ ref('int_predications_parsed') }}

),

kb_scope as (

    select * from {{ ref('int_kb_scope') }}

)

-- The scope comes first: of the whole dump only the pairs within it are ever asked for.
select
    predications.predication_id,
    predications.sentence_id,
    predications.pmid,
    predications.predicate,
    predications.is_negated,
    predications.subject_cui_id,
    predications.object_cui_id
from predications
inner join kb_scope as subjects
    on predications.subject_cui_id = subjects.cui_id
inner join kb_scope as objects
    on predications.object_cui_id = objects.cui_id
where predications.reason is null
