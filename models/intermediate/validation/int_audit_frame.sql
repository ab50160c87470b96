{%- set policy = active_policy() -%}
with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

triple_verdicts as (

    select * from {{ ref('fct_triple_verdicts') }}
    where policy = '{{ policy }}'

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

evidence_bands as (

    select * from {{ ref('evidence_bands') }}

),

copied_sources as (

    select * from {{ ref('int_copied_sources') }}

),

proposed as (

    select distinct triple_id
    from triple_proposals
    where generator <> '{{ var("null_generator") }}'

),

placed as (

    select
        triples.triple_id,
        triple_verdicts.verdict,
        triples.source,
        triples.task,
        triples.relation,
        evidence_bands.band
    from triples
    inner join proposed
        on triples.triple_id = proposed.triple_id
    inner join triple_verdicts
        on triples.triple_id = triple_verdicts.triple_id
    inner join triple_counts
        on triples.triple_id = triple_counts.triple_id
    inner join evidence_bands
        on triple_counts.n_supporting_pmids_exact
        between evidence_bands.min_pmids and evidence_bands.max_pmids
    anti join copied_sources
        on triples.source = copied_sources.source

),

sized as (

    select
        *,
        count(*) over (partition by verdict, source, task, relation, band) as n_in_stratum,
        count(*) over (partition by verdict) as n_in_verdict
    from placed

)

select
    triple_id,
    verdict,
    source,
    task,
    relation,
    band,
    {{ key(['verdict', 'source', 'task', 'relation', 'band']) }} as stratum_key,
    n_in_stratum,
    -- In proportion to the frame, so that weights are nearly equal, but never fewer than the least.
    least(
        n_in_stratum,
        greatest(
            {{ var('audit_min_per_stratum') }},
            cast(round(cast({{ var('audit_triples') }} as double) * n_in_stratum / n_in_verdict)
                as bigint)
        )
    ) as n_wanted
from sized
