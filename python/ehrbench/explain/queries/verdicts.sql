-- The verdict under each policy with the codes of the failed checks and what they mean.
with

verdicts as (

    select * from fct_triple_verdicts
    where triple_id = $triple_id

),

codes as (

    select
        policy,
        unnest(string_split(failed_reason_codes, ',')) as reason_code,
        generate_subscripts(string_split(failed_reason_codes, ','), 1) as place
    from verdicts
    where failed_reason_codes <> ''

),

reasons_listed as (

    select
        codes.policy,
        list(
            {
                'reason_code': codes.reason_code,
                'check_name': reasons.check_name,
                'meaning': reasons.meaning,
                'comment': reasons.comment
            }
            order by codes.place
        ) as reasons
    from codes
    left join validation_reasons as reasons
        on codes.reason_code = reasons.reason_code
        and reasons.in_verdicts
    group by codes.policy

)

select
    verdicts.policy,
    policies.comment as policy_comment,
    coalesce(verdicts.policy = (select min(policy) from fct_templates), false) as makes_items,
    verdicts.verdict,
    verdicts.kb_verdict,
    verdicts.match_level,
    coalesce(reasons_listed.reasons, []) as reasons
from verdicts
left join evidence_policies as policies
    on verdicts.policy = policies.policy
left join reasons_listed
    on verdicts.policy = reasons_listed.policy
order by verdicts.policy
