{{ config(tags=['portable']) }}

with

articles as (

    select * from {{ ref('int_claim_articles') }}
    where role = 'support'

),

hits as (

    select * from {{ ref('int_claim_evidence_hits') }}
    where role = 'support'
        and kb = 'umls'

),

support as (

    select
        claim_key,
        level_rank,
        n_pmids,
        0 as n_curated,
        0 as n_undirected
    from articles

    union all

    select
        claim_key,
        level_rank,
        0 as n_pmids,
        case when strength = 'strong' then n_rows else 0 end as n_curated,
        case when strength = 'undirected' then n_rows else 0 end as n_undirected
    from hits

)

select
    claim_key,
    {%- for level in match_level_names() %}
    {%- set level_number = loop.index0 %}
    {%- set is_last = loop.last %}
    {%- for column in ['n_pmids', 'n_curated', 'n_undirected'] %}
    cast(sum(case when level_rank <= {{ level_number }} then {{ column }} else 0 end) as integer)
        as {{ column }}_to_{{ level }}
        {{- ',' if not (is_last and loop.last) }}
    {%- endfor %}
    {%- endfor %}
from support
group by claim_key
