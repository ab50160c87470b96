{{ config(tags=['portable']) }}

with

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}

),

predications as (

    select * from {{ ref('int_predications_cleaned') }}

),

citations as (

    select * from {{ ref('stg_semmeddb__citations') }}

),

-- Each row beyond one per article may belong to a single article, so this many rows in the order
-- of the articles hold as many articles as are kept.
met_edges as (

    select
        edge_subject_cui_id,
        predicate_or_rela,
        edge_object_cui_id,
        {{ predicate_parts('predicate_or_rela') }},
        {{ var('evidence_rows') }} + max(n_rows - n_pmids) as n_looked_at
    from hits
    where kb = 'semmeddb'
        and strength <> 'weak'
    group by
        edge_subject_cui_id,
        predicate_or_rela,
        edge_object_cui_id

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

newest_rows as (

    select
        met_edges.edge_subject_cui_id,
        met_edges.predicate_or_rela,
        met_edges.edge_object_cui_id,
        met_edges.n_looked_at,
        predications.pmid,
        predications.sentence_id,
        predications.predication_id,
        citation_years.year,
        row_number() over (
            partition by
                met_edges.edge_subject_cui_id,
                met_edges.edge_object_cui_id,
                met_edges.predicate_or_rela
            order by
                coalesce(citation_years.year, 0) desc,
                predications.pmid,
                predications.sentence_id,
                predications.predication_id
        ) as row_in_edge
    from met_edges
    inner join predications
        on met_edges.edge_subject_cui_id = predications.subject_cui_id
        and met_edges.edge_object_cui_id = predications.object_cui_id
        and met_edges.predicate = predications.predicate
        and met_edges.is_negated = predications.is_negated
    left join citation_years
        on predications.pmid = citation_years.pmid

),

article_rows as (

    select
        *,
        row_number() over (
            partition by edge_subject_cui_id, edge_object_cui_id, predicate_or_rela, pmid
            order by sentence_id, predication_id
        ) as row_in_article
    from newest_rows
    where row_in_edge <= n_looked_at

),

ranked as (

    select
        edge_subject_cui_id,
        predicate_or_rela,
        edge_object_cui_id,
        pmid,
        year,
        sentence_id,
        predication_id,
        row_number() over (
            partition by edge_subject_cui_id, edge_object_cui_id, predicate_or_rela
            order by coalesce(year, 0) desc, pmid
        ) as article_rank
    from article_rows
    where row_in_article = 1

)

select
    edge_subject_cui_id,
    predicate_or_rela,
    edge_object_cui_id,
    cast(article_rank as integer) as article_rank,
    pmid,
    year,
    sentence_id,
    predication_id
from ranked
where article_rank <= {{ var('evidence_rows') }}
