with

triples as (

    select * from {{ ref('fct_triples') }}

),

policy_reasons as (

    select * from {{ ref('int_triple_policy_reasons') }}

),

triple_truth as (

    select * from {{ ref('int_triple_truth') }}

),

evidence_bands as (

    select * from {{ ref('evidence_bands') }}

),

-- A pair of concepts counts once, however many visits of a source hold it.
source_pairs as (

    select
        policy_reasons.policy,
        triples.source,
        triples.task,
        triples.claim_key,
        max(triple_truth.n_supporting_pmids_exact) as n_pmids,
        count(*) as n_triples,
        min(case when policy_reasons.reason_positive_support is null then 0 else 1 end)
            as is_unsupported,
        min(case when policy_reasons.reason_no_negative_evidence is null then 0 else 1 end)
            as is_denied,
        min(case when policy_reasons.reason_unambiguous_relation is null then 0 else 1 end)
            as is_ambiguous
    from triples
    inner join triple_truth
        on triples.triple_id = triple_truth.triple_id
    inner join policy_reasons
        on triples.triple_id = policy_reasons.triple_id
    where triple_truth.is_right
    group by
        policy_reasons.policy,
        triples.source,
        triples.task,
        triples.claim_key

),

-- Nor do sources count it twice, so one that holds the visits of another adds no pair.
pairs as (

    select * from source_pairs

    union all

    select
        policy,
        'all' as source,
        task,
        claim_key,
        max(n_pmids) as n_pmids,
        sum(n_triples) as n_triples,
        min(is_unsupported) as is_unsupported,
        min(is_denied) as is_denied,
        min(is_ambiguous) as is_ambiguous
    from source_pairs
    group by
        policy,
        task,
        claim_key

),

spanned as (

    select * from pairs

    union all

    select
        policy,
        source,
        'all' as task,
        claim_key,
        n_pmids,
        n_triples,
        is_unsupported,
        is_denied,
        is_ambiguous
    from pairs

),

counted as (

    select
        spanned.policy,
        spanned.source,
        spanned.task,
        evidence_bands.band,
        evidence_bands.band_order,
        evidence_bands.min_pmids,
        count(*) as n_pairs,
        sum(spanned.n_triples) as n_triples,
        sum(1 - spanned.is_unsupported) as n_supported,
        sum(case when spanned.is_unsupported = 0 then spanned.is_denied else 0 end) as n_denied,
        sum(
            case
                when spanned.is_unsupported + spanned.is_denied + spanned.is_ambiguous = 0 then 1
                else 0
            end
        ) as n_kept
    from spanned
    inner join evidence_bands
        on spanned.n_pmids between evidence_bands.min_pmids and evidence_bands.max_pmids
    group by
        spanned.policy,
        spanned.source,
        spanned.task,
        evidence_bands.band,
        evidence_bands.band_order,
        evidence_bands.min_pmids

)

select
    policy,
    source,
    task,
    band,
    band_order,
    min_pmids,
    cast(n_pairs as bigint) as n_pairs,
    cast(n_triples as bigint) as n_triples,
    cast(n_supported as bigint) as n_supported,
    cast(n_denied as bigint) as n_denied,
    cast(n_kept as bigint) as n_kept,
    {{ share('n_kept', 'n_pairs') }} as recall,
    {{ wilson_bound('n_kept', 'n_pairs', 'low') }} as recall_low,
    {{ wilson_bound('n_kept', 'n_pairs', 'high') }} as recall_high,
    {{ share('n_denied', 'n_supported') }} as denied_share,
    {{ wilson_bound('n_denied', 'n_supported', 'low') }} as denied_share_low,
    {{ wilson_bound('n_denied', 'n_supported', 'high') }} as denied_share_high
from counted
