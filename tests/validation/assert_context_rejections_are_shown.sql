-- A triple that a policy rejects for its context names the rule, and the mart shows what the rule
-- found.
with

rejected as (

    select distinct
        triple_id,
        reason_no_context_conflict
    from {{ ref('int_triple_policy_reasons') }}
    where reason_no_context_conflict is not null

),

shown as (

    select distinct
        triple_id,
        concat('context_conflict_', rule) as reason
    from {{ ref('fct_context_conflicts') }}

)

select
    rejected.triple_id,
    rejected.reason_no_context_conflict
from rejected
left join shown
    on rejected.triple_id = shown.triple_id
    and rejected.reason_no_context_conflict = shown.reason
where shown.triple_id is null
