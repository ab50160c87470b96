-- Context events that speak against the answer, and the policies that listen to the rule.
with

listening as (

    select
        rule,
        list(policy order by policy) as policies
    from conflict_rules
    where is_enabled
        and policy in (select policy from evidence_policies)
    group by rule

)

select
    conflicts.rule,
    reasons.meaning,
    coalesce(listening.policies, []) as policies,
    events.label as context_label,
    conflicts.context_cui,
    context.name as context_name,
    conflicts.answer_cui,
    answer.name as answer_name,
    conflicts.kb,
    conflicts.predicate_or_rela,
    conflicts.n_pmids,
    conflicts.pmid,
    conflicts.sentence
from fct_context_conflicts as conflicts
left join fct_visit_events as events
    on conflicts.context_event_key = events.event_key
left join dim_concepts as context
    on conflicts.context_cui = context.cui
left join dim_concepts as answer
    on conflicts.answer_cui = answer.cui
left join validation_reasons as reasons
    on reasons.reason_code = 'context_conflict_' || conflicts.rule
left join listening
    on conflicts.rule = listening.rule
where conflicts.triple_id = $triple_id
order by
    conflicts.rule,
    events.label,
    conflicts.context_event_key,
    conflicts.rank
