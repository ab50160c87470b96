{{ config(tags=['portable']) }}

with

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}

),

claim_predications as (

    select * from {{ ref('int_claim_predications') }}

),

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

),

citations as (

    select * from {{ ref('stg_semmeddb__citations') }}

),

-- Some citations have no year of their own; the entry date may be the word null. An article that
-- a torn dump holds twice is still one.
citation_years as (

    select
        pmid,
        min(
            coalesce(
                pyear,
                try_cast(substr(entry_date, 1, 4) as integer),
                try_cast(substr(date_printed, 1, 4) as integer)
            )
        ) as year
    from citations
    group by pmid

),

vocabularies as (

    select
        subject_cui_id,
        rela,
        object_cui_id,
        min(sab) as sab
    from curated_edges
    group by
        subject_cui_id,
        rela,
        object_cui_id

),

-- A relation that several vocabularies state is one row, under the first of their names.
curated_rows as (

    select
        hits.claim_key,
        hits.role,
        hits.strength,
        hits.kb,
        hits.predicate_or_rela,
        hits.edge_subject_cui_id,
        hits.edge_object_cui_id,
        hits.match_level,
        hits.level_rank,
        vocabularies.sab,
        hits.n_rows as n_vocabularies
    from hits
    left join vocabularies
        on hits.edge_subject_cui_id = vocabularies.subject_cui_id
        and hits.predicate_or_rela = vocabularies.rela
        and hits.edge_object_cui_id = vocabularies.object_cui_id
    where hits.kb = 'umls'
        and hits.strength <> 'weak'

),

-- One row per article: its narrowest match, then its first sentence.
article_rows as (

    select
        *,
        row_number() over (
            partition by claim_key, role, pmid
            order by level_rank, sentence_id, predication_id, predicate_or_rela
        ) as row_in_article
    from claim_predications
    where strength <> 'weak'

),

evidence as (

    select
        article_rows.claim_key,
        article_rows.role,
        article_rows.strength,
        'semmeddb' as kb,
        article_rows.predicate_or_rela,
        article_rows.edge_subject_cui_id,
        article_rows.edge_object_cui_id,
        article_rows.match_level,
        article_rows.level_rank,
        cast(null as string) as sab,
        cast(null as integer) as n_vocabularies,
        article_rows.predication_id,
        article_rows.pmid,
        article_rows.sentence_id,
        citation_years.year
    from article_rows
    left join citation_years
        on article_rows.pmid = citation_years.pmid
    where article_rows.row_in_article = 1

    union all

    select
        claim_key,
        role,
        strength,
        kb,
        predicate_or_rela,
        edge_subject_cui_id,
        edge_object_cui_id,
        match_level,
        level_rank,
        sab,
        n_vocabularies,
        cast(null as bigint) as predication_id,
        cast(null as string) as pmid,
        cast(null as bigint) as sentence_id,
        cast(null as integer) as year
    from curated_rows

),

-- What speaks for the opposite effect or direction is one role in the mart: conflict.
named as (

    select
        claim_key,
        case when role in ('hazard', 'reverse_support') then 'conflict' else role end as role,
        strength,
        kb,
        predicate_or_rela,
        edge_subject_cui_id,
        edge_object_cui_id,
        match_level,
        level_rank,
        sab,
        n_vocabularies,
        predication_id,
        pmid,
        sentence_id,
        year
    from evidence

),

ranked as (

    select
        *,
        row_number() over (
            partition by claim_key, role
            order by
                case when strength = 'strong' then 0 else 1 end,
                level_rank,
                coalesce(year, 0) desc,
                kb,
                coalesce(pmid, ''),
                coalesce(sentence_id, 0),
                coalesce(predication_id, 0),
                predicate_or_rela,
                edge_subject_cui_id,
                edge_object_cui_id
        ) as evidence_rank
    from named

)

select
    claim_key,
    role,
    cast(evidence_rank as integer) as evidence_rank,
    strength,
    kb,
    predicate_or_rela,
    edge_subject_cui_id,
    edge_object_cui_id,
    match_level,
    sab,
    n_vocabularies,
    predication_id,
    pmid,
    sentence_id,
    year
from ranked
where evidence_rank <= {{ var('evidence_rows') }}
