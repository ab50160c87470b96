-- A triple that the active policy accepts can show at least one row that supports it.
with

accepted as (

    select triple_id
    from {{ ref('fct_triple_verdicts') }}
    where policy = '{{ active_policy() }}'
        and verdict = 'accepted'

),

supported as (

    select distinct claims.triple_id
    from {{ ref('fct_triple_claims') }} as claims
    inner join {{ ref('fct_claim_evidence') }} as evidence
        on claims.claim_key = evidence.claim_key
    where evidence.role = 'support'

)

select accepted.triple_id
from accepted
left join supported
    on accepted.triple_id = supported.triple_id
where supported.triple_id is null
