{{ config(tags=['portable']) }}

with

context_conflicts as (

    select * from {{ ref('int_context_conflicts') }}

),

conflict_predicates as (

    select * from {{ ref('conflict_predicates') }}

),

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

),

drug_interactions as (

    select * from {{ ref('int_drug_interactions') }}

),

predications as (

    select * from {{ ref('int_predications_cleaned') }}

),

-- Many triples share a conflicting pair of concepts: its evidence is gathered once.
conflicting_pairs as (

    select distinct
        rule,
        context_cui_id,
        answer_cui_id
    from context_conflicts
    where context_cui_id is not null

),

harm_predicates as (

    select
        rule,
        kb,
        predicate_or_rela
    from conflict_predicates
    where effect = 'harm'

),

curated as (

    select
        conflicting_pairs.rule,
        conflicting_pairs.context_cui_id,
        conflicting_pairs.answer_cui_id,
        'umls' as kb,
        curated_edges.rela as predicate_or_rela,
        cast(null as bigint) as predication_id,
        cast(null as string) as pmid,
        cast(null as bigint) as sentence_id
    from conflicting_pairs
    inner join harm_predicates
        on conflicting_pairs.rule = harm_predicates.rule
        and harm_predicates.kb = 'umls'
    inner join curated_edges
        on harm_predicates.predicate_or_rela = curated_edges.rela
        and conflicting_pairs.answer_cui_id = curated_edges.subject_cui_id
        and conflicting_pairs.context_cui_id = curated_edges.object_cui_id

),

harms as (

    select
        conflicting_pairs.rule,
        conflicting_pairs.context_cui_id,
        conflicting_pairs.answer_cui_id,
        'semmeddb' as kb,
        predications.predicate as predicate_or_rela,
        predications.predication_id,
        predications.pmid,
        predications.sentence_id
    from conflicting_pairs
    inner join harm_predicates
        on conflicting_pairs.rule = harm_predicates.rule
        and harm_predicates.kb = 'semmeddb'
    inner join predications
        on harm_predicates.predicate_or_rela = predications.predicate
        and conflicting_pairs.answer_cui_id = predications.subject_cui_id
        and conflicting_pairs.context_cui_id = predications.object_cui_id
    where not predications.is_negated

),

-- The literal rule reads a denial in either direction.
negated_predications as (

    select
        *,
        subject_cui_id as context_cui_id,
        object_cui_id as answer_cui_id
    from predications
    where is_negated

    union all

    select
        *,
        object_cui_id as context_cui_id,
        subject_cui_id as answer_cui_id
    from predications
    where is_negated

),

denials as (

    select
        conflicting_pairs.rule,
        conflicting_pairs.context_cui_id,
        conflicting_pairs.answer_cui_id,
        'semmeddb' as kb,
        concat('NEG_', negated_predications.predicate) as predicate_or_rela,
        negated_predications.predication_id,
        negated_predications.pmid,
        negated_predications.sentence_id
    from conflicting_pairs
    inner join negated_predications
        on conflicting_pairs.context_cui_id = negated_predications.context_cui_id
        and conflicting_pairs.answer_cui_id = negated_predications.answer_cui_id
    where conflicting_pairs.rule = 'paper_literal'

),

-- The fragment of seed interaction_effects that the statement was judged by.
interactions as (

    select
        conflicting_pairs.rule,
        conflicting_pairs.context_cui_id,
        conflicting_pairs.answer_cui_id,
        'drugbank' as kb,
        drug_interactions.pattern as predicate_or_rela,
        cast(null as bigint) as predication_id,
        cast(null as string) as pmid,
        cast(null as bigint) as sentence_id
    from conflicting_pairs
    inner join drug_interactions
        on conflicting_pairs.context_cui_id = drug_interactions.cui_id
        and conflicting_pairs.answer_cui_id = drug_interactions.other_cui_id
    where conflicting_pairs.rule = 'severe_interaction'

),

evidence as (

    select * from curated
    union all
    select * from interactions
    union all
    select * from harms
    union all
    select * from denials

),

-- One row per article, its first sentence, and one per curated relation.
article_rows as (

    select
        *,
        row_number() over (
            partition by
                rule,
                context_cui_id,
                answer_cui_id,
                kb,
                coalesce(pmid, predicate_or_rela)
            order by
                sentence_id,
                predication_id,
                predicate_or_rela
        ) as row_in_article
    from evidence

),

-- PMIDs grow over the years, so the highest is about the most recent.
ranked as (

    select
        *,
        row_number() over (
            partition by
                rule,
                context_cui_id,
                answer_cui_id
            order by
                kb desc,
                coalesce(try_cast(pmid as bigint), 0) desc,
                coalesce(pmid, ''),
                predicate_or_rela
        ) as evidence_rank
    from article_rows
    where row_in_article = 1

)

select
    rule,
    context_cui_id,
    answer_cui_id,
    cast(evidence_rank as integer) as evidence_rank,
    kb,
    predicate_or_rela,
    pmid,
    sentence_id
from ranked
where evidence_rank <= {{ var('evidence_rows') }}
