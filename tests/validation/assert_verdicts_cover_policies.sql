-- Every triple under every policy, once; accepted exactly when no reason is listed.
with

expected as (

    select
        triples.triple_id,
        policies.policy,
        1 as n_rows
    from {{ ref('fct_triples') }} as triples
    cross join {{ ref('evidence_policies') }} as policies

),

verdicts as (

    select
        triple_id,
        policy,
        count(*) as n_rows,
        min(case when (verdict = 'accepted') = (failed_reason_codes is null) then 1 else 0 end)
            as agrees
    from {{ ref('fct_triple_verdicts') }}
    group by
        triple_id,
        policy

)

select
    coalesce(expected.triple_id, verdicts.triple_id) as triple_id,
    coalesce(expected.policy, verdicts.policy) as policy,
    verdicts.n_rows,
    verdicts.agrees
from expected
full outer join verdicts
    on expected.triple_id = verdicts.triple_id
    and expected.policy = verdicts.policy
where expected.n_rows is distinct from verdicts.n_rows
    or verdicts.agrees is distinct from 1
