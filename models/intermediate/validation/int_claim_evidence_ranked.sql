{{ config(tags=['portable']) }}

with

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}

),

edge_articles as (

    select * from {{ ref('int_edge_articles') }}

),

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

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

-- One row per article: its strongest match, then its narrowest, then its first sentence. This is
-- the order of the rows below, so an article that its edge leaves out would have no place here.
article_rows as (

    select
        hits.claim_key,
        hits.role,
        hits.strength,
        hits.predicate_or_rela,
        hits.edge_subject_cui_id,
        hits.edge_object_cui_id,
        hits.match_level,
        hits.level_rank,
        edge_articles.predication_id,
        edge_articles.pmid,
        edge_articles.sentence_id,
        edge_articles.year,
        row_number() over (
            partition by hits.claim_key, hits.role, edge_articles.pmid
            order by
                case when hits.strength = 'strong' then 0 else 1 end,
                hits.level_rank,
                edge_articles.sentence_id,
                edge_articles.predication_id,
                hits.predicate_or_rela,
                hits.edge_subject_cui_id,
                hits.edge_object_cui_id
        ) as row_in_article
    from hits
    inner join edge_articles
        on hits.edge_subject_cui_id = edge_articles.edge_subject_cui_id
        and hits.edge_object_cui_id = edge_articles.edge_object_cui_id
        and hits.predicate_or_rela = edge_articles.predicate_or_rela
    where hits.kb = 'semmeddb'
        and hits.strength <> 'weak'

),

evidence as (

    select
        claim_key,
        role,
        strength,
        'semmeddb' as kb,
        predicate_or_rela,
        edge_subject_cui_id,
        edge_object_cui_id,
        match_level,
        level_rank,
        cast(null as string) as sab,
        cast(null as integer) as n_vocabularies,
        predication_id,
        pmid,
        sentence_id,
        year
    from article_rows
    where row_in_article = 1

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
