-- Yields add up: accepted and first reasons make all triples, single reasons make those of their
-- check, and both are what the verdicts say.
with

generated as (

    select distinct
        triples.triple_id,
        triples.source,
        triples.task,
        proposals.generator
    from {{ ref('fct_triples') }} as triples
    inner join {{ ref('fct_triple_proposals') }} as proposals
        on triples.triple_id = proposals.triple_id
    where not {{ for_tests_only('proposals.generator') }}

),

verdicts as (

    select
        verdicts.policy,
        generated.source,
        generated.task,
        generated.generator,
        count(*) as n_triples,
        sum(case when verdicts.verdict = 'accepted' then 1 else 0 end) as n_accepted,
        sum(case when verdicts.failed_reason_codes is not null then 1 else 0 end) as n_rejected
    from {{ ref('fct_triple_verdicts') }} as verdicts
    inner join generated
        on verdicts.triple_id = generated.triple_id
    group by
        verdicts.policy,
        generated.source,
        generated.task,
        generated.generator

),

reasons as (

    select
        policy,
        source,
        task,
        generator,
        sum(n_first) as n_first,
        sum(n_any) as n_any,
        max(case when n_only > n_first or n_first > n_any then 1 else 0 end) as is_torn
    from {{ ref('rpt_rejection_reasons') }}
    group by
        policy,
        source,
        task,
        generator

),

yields as (

    select
        *,
        n_first_grounded + n_first_mapped + n_first_positive_support
            + n_first_unambiguous_relation + n_first_no_negative_evidence
            + n_first_no_context_conflict + n_first_ehr_lift as n_first,
        n_any_grounded + n_any_mapped + n_any_positive_support
            + n_any_unambiguous_relation + n_any_no_negative_evidence
            + n_any_no_context_conflict + n_any_ehr_lift as n_any
    from {{ ref('rpt_yield_by_policy') }}

)

select
    coalesce(yields.policy, verdicts.policy, reasons.policy) as policy,
    coalesce(yields.source, verdicts.source, reasons.source) as source,
    coalesce(yields.task, verdicts.task, reasons.task) as task,
    coalesce(yields.generator, verdicts.generator, reasons.generator) as generator,
    yields.n_triples,
    yields.n_accepted,
    yields.n_first,
    verdicts.n_accepted as n_accepted_in_verdicts,
    reasons.n_first as n_first_in_reasons
from yields
full outer join verdicts
    on yields.policy = verdicts.policy
    and yields.source = verdicts.source
    and yields.task = verdicts.task
    and yields.generator = verdicts.generator
full outer join reasons
    on yields.policy = reasons.policy
    and yields.source = reasons.source
    and yields.task = reasons.task
    and yields.generator = reasons.generator
where yields.n_triples is distinct from verdicts.n_triples
    or yields.n_accepted is distinct from verdicts.n_accepted
    or yields.n_rejected is distinct from verdicts.n_rejected
    or yields.n_accepted + yields.n_first <> yields.n_triples
    or yields.n_first <> coalesce(reasons.n_first, 0)
    or yields.n_any <> coalesce(reasons.n_any, 0)
    or reasons.is_torn = 1
