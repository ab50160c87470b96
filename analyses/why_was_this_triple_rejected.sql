-- Why was this triple rejected? One row per check, with the evidence behind it.
-- Run with: dbt show --select why_was_this_triple_rejected --vars '{triple: <triple_id>}'
-- Without the variable it takes the first rejected triple under the active policy.
-- What conflicts in the context is in int_context_conflicts, by the same triple_id.
with chosen as (
    select v.triple_id, v.policy, v.failed_reason_codes
    from {{ ref('fct_triple_verdicts') }} as v
    where
        v.policy = '{{ active_policy() }}'
        {% if var('triple', none) -%}
        and v.triple_id = '{{ var('triple') | replace("'", "''") }}'
        {%- else -%}
        and v.verdict = 'rejected'
        {%- endif %}
    order by v.triple_id
    limit 1
)

select
    t.task,
    subject.label as subject_label,
    t.relation,
    object.label as object_label,
    c.check_name,
    c.status,
    c.reason_code,
    c.n_supporting_pmids,
    c.n_supporting_curated,
    c.n_contradicting_pmids,
    e.role as evidence_role,
    e.predicate_or_rela,
    e.match_level,
    e.pmid,
    e.sentence
from chosen
inner join {{ ref('fct_triples') }} as t on chosen.triple_id = t.triple_id
inner join {{ ref('fct_visit_events') }} as subject on t.subject_event_key = subject.event_key
inner join {{ ref('fct_visit_events') }} as object on t.object_event_key = object.event_key
inner join {{ ref('fct_triple_checks') }} as c on t.triple_id = c.triple_id
left join {{ ref('fct_claim_evidence') }} as e
    on t.claim_key = e.claim_key
    and e.role = case c.check_name
        when 'positive_support' then 'support'
        when 'no_negative_evidence' then 'contradict'
        when 'unambiguous_relation' then 'conflict'
    end
order by c.check_name, e.role, e.rank
