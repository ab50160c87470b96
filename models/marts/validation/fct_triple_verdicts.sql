{{ config(tags=['portable']) }}

with

policy_reasons as (

    select * from {{ ref('int_triple_policy_reasons') }}

),

-- concat_ws leaves nulls out, so what is left are the codes of failed checks in check order.
concatenated as (

    select
        triple_id,
        policy,
        match_level,
        concat_ws(
            ',',
            reason_grounded,
            reason_mapped,
            reason_positive_support,
            reason_unambiguous_relation,
            reason_no_negative_evidence,
            reason_no_context_conflict,
            reason_ehr_lift
        ) as failed_reason_codes,
        concat_ws(
            ',',
            reason_mapped,
            reason_positive_support,
            reason_unambiguous_relation,
            reason_no_negative_evidence,
            reason_no_context_conflict,
            reason_ehr_lift
        ) as kb_reason_codes
    from policy_reasons

)

select
    triple_id,
    policy,
    case when failed_reason_codes = '' then 'accepted' else 'rejected' end as verdict,
    case when kb_reason_codes = '' then 'accepted' else 'rejected' end as kb_verdict,
    nullif(failed_reason_codes, '') as failed_reason_codes,
    match_level
from concatenated
