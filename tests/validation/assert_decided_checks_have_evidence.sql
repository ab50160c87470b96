-- Support, denial and ambiguity that decide a check can be shown: some claim of the triple has an
-- evidence row in that role.
with

decided as (

    select
        triple_id,
        check_name,
        case check_name
            when 'positive_support' then 'support'
            when 'no_negative_evidence' then 'contradict'
            when 'unambiguous_relation' then 'conflict'
        end as role
    from {{ ref('fct_triple_checks') }}
    where (check_name = 'positive_support' and status = 'pass')
        or (check_name in ('no_negative_evidence', 'unambiguous_relation') and status = 'fail')

),

shown as (

    select distinct
        claims.triple_id,
        evidence.role
    from {{ ref('int_triple_claims') }} as claims
    inner join {{ ref('fct_claim_evidence') }} as evidence
        on claims.claim_key = evidence.claim_key

)

select
    decided.triple_id,
    decided.check_name
from decided
left join shown
    on decided.triple_id = shown.triple_id
    and decided.role = shown.role
where shown.triple_id is null
