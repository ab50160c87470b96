{{ config(tags=['portable']) }}

with

evidence as (

    select * from {{ ref('int_claim_evidence_ranked') }}

),

sentences as (

    select * from {{ ref('stg_semmeddb__sentences') }}

),

predication_aux as (

    select * from {{ ref('stg_semmeddb__predication_aux') }}

),

-- The two large files are looked up for the chosen rows only.
chosen_sentences as (

    select distinct sentence_id
    from evidence
    where sentence_id is not null

),

sentence_texts as (

    select
        sentences.sentence_id,
        min(sentences.sentence) as sentence
    from sentences
    inner join chosen_sentences
        on sentences.sentence_id = chosen_sentences.sentence_id
    group by sentences.sentence_id

),

chosen_predications as (

    select distinct predication_id
    from evidence
    where predication_id is not null

),

indicators as (

    select
        predication_aux.predication_id,
        min(predication_aux.indicator_type) as indicator_type
    from predication_aux
    inner join chosen_predications
        on predication_aux.predication_id = chosen_predications.predication_id
    group by predication_aux.predication_id

)

select
    evidence.claim_key,
    evidence.role,
    evidence.evidence_rank as rank,
    evidence.strength,
    evidence.kb,
    evidence.predicate_or_rela,
    {{ cui_text('evidence.edge_subject_cui_id') }} as subject_cui,
    {{ cui_text('evidence.edge_object_cui_id') }} as object_cui,
    evidence.match_level,
    evidence.pmid,
    evidence.sentence_id,
    sentence_texts.sentence,
    indicators.indicator_type,
    evidence.year
from evidence
left join sentence_texts
    on evidence.sentence_id = sentence_texts.sentence_id
left join indicators
    on evidence.predication_id = indicators.predication_id
