{{ config(tags=['portable']) }}

with

claims as (

    select * from {{ ref('int_claims') }}

),

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}

),

articles as (

    select * from {{ ref('int_claim_articles') }}

),

article_counts as (

    select
        claim_key,
        sum(case when role = 'support' then n_pmids else 0 end) as n_supporting_pmids,
        sum(case when role = 'support' and not is_inherited then n_pmids else 0 end)
            as n_supporting_pmids_exact,
        sum(case when role = 'contradict' then n_pmids else 0 end) as n_contradicting_pmids,
        sum(case when role = 'hazard' then n_pmids else 0 end) as n_hazard_pmids,
        sum(case when role = 'reverse_support' then n_pmids else 0 end) as n_reverse_pmids
    from articles
    group by claim_key

),

curated_counts as (

    select
        claim_key,
        sum(case when role = 'support' and strength = 'strong' then n_rows else 0 end)
            as n_supporting_curated,
        sum(
            case
                when role = 'support' and strength = 'strong' and not is_inherited then n_rows
                else 0
            end
        ) as n_supporting_curated_exact,
        sum(case when role = 'support' and strength = 'undirected' then n_rows else 0 end)
            as n_undirected_curated,
        sum(
            case
                when role = 'support' and strength = 'undirected' and not is_inherited then n_rows
                else 0
            end
        ) as n_undirected_curated_exact,
        sum(case when role = 'contradict' and strength = 'strong' then n_rows else 0 end)
            as n_contradicting_curated
    from hits
    where kb = 'umls'
    group by claim_key

)

select
    claims.claim_key,
    {%- for column in ['n_supporting_pmids', 'n_supporting_pmids_exact', 'n_contradicting_pmids',
        'n_hazard_pmids', 'n_reverse_pmids'] %}
    cast(coalesce(article_counts.{{ column }}, 0) as integer) as {{ column }},
    {%- endfor %}
    {%- for column in ['n_supporting_curated', 'n_supporting_curated_exact',
        'n_undirected_curated', 'n_undirected_curated_exact', 'n_contradicting_curated'] %}
    cast(coalesce(curated_counts.{{ column }}, 0) as integer) as {{ column }}
    {{- ',' if not loop.last }}
    {%- endfor %}
from claims
left join article_counts
    on claims.claim_key = article_counts.claim_key
left join curated_counts
    on claims.claim_key = curated_counts.claim_key
