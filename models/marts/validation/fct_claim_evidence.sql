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

articles as (

    select * from {{ ref('stg_pubmed__articles') }}

),

-- The large files are looked up for the chosen rows only.
chosen_sentences as (

    select distinct sentence_id
    from evidence
    where sentence_id is not null

),

sentence_texts as (

    select
        sentences.sentence_id,
        min(sentences.sentence) as sentence,
        min(nullif(sentences.section, '')) as section
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

),

chosen_articles as (

    select distinct pmid
    from evidence
    where pmid is not null

),

article_titles as (

    select
        articles.pmid,
        min(articles.title) as title,
        min(articles.pub_year) as pub_year
    from articles
    inner join chosen_articles
        on articles.pmid = chosen_articles.pmid
    group by articles.pmid

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
    evidence.sab,
    evidence.n_vocabularies,
    evidence.pmid,
    coalesce(evidence.year, article_titles.pub_year) as year,
    article_titles.title,
    evidence.sentence_id,
    sentence_texts.section,
    sentence_texts.sentence,
    indicators.indicator_type
from evidence
left join sentence_texts
    on evidence.sentence_id = sentence_texts.sentence_id
left join indicators
    on evidence.predication_id = indicators.predication_id
left join article_titles
    on evidence.pmid = article_titles.pmid
