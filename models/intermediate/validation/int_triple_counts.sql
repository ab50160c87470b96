{{ config(tags=['portable']) }}

{%- set count_columns = ['n_supporting_pmids', 'n_supporting_pmids_exact',
    'n_supporting_curated', 'n_supporting_curated_exact', 'n_undirected_curated',
    'n_undirected_curated_exact', 'n_contradicting_pmids', 'n_contradicting_curated',
    'n_hazard_pmids', 'n_reverse_pmids'] %}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

claim_counts as (

    select * from {{ ref('int_claim_counts') }}

),

kb_sources as (

    select * from {{ ref('int_kb_sources') }}

),

claim_support_levels as (

    select * from {{ ref('int_claim_support_levels') }}

),

triple_lift as (

    select * from {{ ref('int_triple_lift') }}

),

loaded as (

    select max(case when is_loaded then 1 else 0 end) as kb_loaded
    from kb_sources

),

claim_numbers as (

    select
        triple_id,
        count(*) as n_claims
    from triple_claims
    group by triple_id

),

-- Most claims have no evidence, and zeros need no comparing.
evident_claims as (

    select *
    from claim_counts
    where 0
        {%- for column in count_columns %}
        + {{ column }}
        {%- endfor %} > 0

),

-- A code may have up to three concepts: the best supported claim supports the triple, and the
-- worst one speaks against it.
best_counts as (

    select
        triple_claims.triple_id
        {%- for column in count_columns %},
        max(evident_claims.{{ column }}) as {{ column }}
        {%- endfor %}
        {%- for level in match_level_names() %}
        {%- for column in ['n_pmids', 'n_curated', 'n_undirected'] %},
        max(claim_support_levels.{{ column }}_to_{{ level }}) as {{ column }}_to_{{ level }}
        {%- endfor %}
        {%- endfor %}
    from triple_claims
    inner join evident_claims
        on triple_claims.claim_key = evident_claims.claim_key
    left join claim_support_levels
        on triple_claims.claim_key = claim_support_levels.claim_key
    group by triple_claims.triple_id

)

select
    triples.triple_id,
    loaded.kb_loaded = 1 as is_kb_loaded,
    cast(coalesce(claim_numbers.n_claims, 0) as integer) as n_claims,
    {%- for column in count_columns %}
    cast(coalesce(best_counts.{{ column }}, 0) as integer) as {{ column }},
    {%- endfor %}
    {%- for level in match_level_names() %}
    {%- for column in ['n_pmids', 'n_curated', 'n_undirected'] %}
    cast(coalesce(best_counts.{{ column }}_to_{{ level }}, 0) as integer)
        as {{ column }}_to_{{ level }},
    {%- endfor %}
    {%- endfor %}
    triple_lift.ehr_lift
from triples
cross join loaded
left join claim_numbers
    on triples.triple_id = claim_numbers.triple_id
left join best_counts
    on triples.triple_id = best_counts.triple_id
left join triple_lift
    on triples.triple_id = triple_lift.triple_id
