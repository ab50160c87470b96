{{ config(tags=['portable']) }}

with

context_conflicts as (

    select * from {{ ref('int_context_conflicts') }}

),

pair_evidence as (

    select * from {{ ref('int_context_conflict_evidence') }}

),

sentences as (

    select * from {{ ref('stg_semmeddb__sentences') }}

),

-- A note between two codes is its own evidence; it has no article.
evidence as (

    select
        context_conflicts.triple_id,
        context_conflicts.rule,
        context_conflicts.context_event_key,
        context_conflicts.context_cui_id,
        context_conflicts.answer_cui_id,
        pair_evidence.evidence_rank,
        pair_evidence.kb,
        pair_evidence.predicate_or_rela,
        context_conflicts.n_rows,
        context_conflicts.n_pmids,
        pair_evidence.pmid,
        pair_evidence.sentence_id
    from context_conflicts
    inner join pair_evidence
        on context_conflicts.rule = pair_evidence.rule
        and context_conflicts.context_cui_id = pair_evidence.context_cui_id
        and context_conflicts.answer_cui_id = pair_evidence.answer_cui_id

    union all

    select
        triple_id,
        rule,
        context_event_key,
        context_cui_id,
        answer_cui_id,
        1 as evidence_rank,
        'icd10cm' as kb,
        rule as predicate_or_rela,
        n_rows,
        n_pmids,
        cast(null as string) as pmid,
        cast(null as bigint) as sentence_id
    from context_conflicts
    where context_cui_id is null

),

-- An event may conflict through several concepts: the best row of each comes before the second of
-- any.
ranked as (

    select
        *,
        row_number() over (
            partition by
                triple_id,
                rule,
                context_event_key
            order by
                evidence_rank,
                n_rows desc,
                context_cui_id,
                answer_cui_id
        ) as place
    from evidence

),

shown as (

    select * from ranked
    where place <= {{ var('evidence_rows') }}

),

-- The large file is looked up for the shown rows only.
shown_sentences as (

    select distinct sentence_id
    from shown
    where sentence_id is not null

),

sentence_texts as (

    select
        sentences.sentence_id,
        min(sentences.sentence) as sentence
    from sentences
    inner join shown_sentences
        on sentences.sentence_id = shown_sentences.sentence_id
    group by sentences.sentence_id

)

select
    shown.triple_id,
    shown.rule,
    shown.context_event_key,
    case when shown.context_cui_id is not null then {{ cui_text('shown.context_cui_id') }} end
        as context_cui,
    case when shown.answer_cui_id is not null then {{ cui_text('shown.answer_cui_id') }} end
        as answer_cui,
    cast(shown.place as integer) as rank,
    shown.kb,
    shown.predicate_or_rela,
    shown.n_pmids,
    shown.pmid,
    shown.sentence_id,
    sentence_texts.sentence
from shown
left join sentence_texts
    on shown.sentence_id = sentence_texts.sentence_id
