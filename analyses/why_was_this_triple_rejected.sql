-- Why was this triple rejected, or accepted? Its concepts, one block per check, and the articles
-- and sentences behind each check.
-- Run with: dbt show --select why_was_this_triple_rejected --limit -1 --vars "{triple: <id>}"
-- Without the variable it takes the first rejected triple under the active policy. The checks stand
-- at their fixed thresholds; failed_reason_codes holds what the policy made of them.
with chosen as (
    select v.triple_id, v.policy, v.verdict, v.failed_reason_codes
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
),

checks as (
    select
        c.*,
        n.check_order,
        case c.check_name
            when 'positive_support' then 'support'
            when 'no_negative_evidence' then 'contradict'
            when 'unambiguous_relation' then 'conflict'
        end as evidence_role
    from chosen
    inner join {{ ref('fct_triple_checks') }} as c on chosen.triple_id = c.triple_id
    inner join {{ ref('validation_checks') }} as n on c.check_name = n.check_name
),

-- Every pair of concepts of the two events, as the checks read them.
claim_rows as (
    select
        checks.triple_id,
        checks.check_name,
        k.rank as claim_rank,
        k.subject_cui,
        k.object_cui,
        e.role,
        e.rank as evidence_rank,
        e.strength,
        e.kb,
        e.predicate_or_rela,
        e.match_level,
        e.pmid,
        e.sentence,
        cast(null as varchar) as context_event_key,
        cast(null as varchar) as context_cui
    from checks
    inner join {{ ref('fct_triple_claims') }} as k on checks.triple_id = k.triple_id
    left join {{ ref('fct_claim_evidence') }} as e
        on k.claim_key = e.claim_key
        and checks.evidence_role = e.role
    where checks.evidence_role is not null
        or checks.check_name = 'mapped'
),

-- A triple without a claim still shows the end that has a concept.
half_mapped_rows as (
    select
        checks.triple_id,
        checks.check_name,
        cast(null as integer) as claim_rank,
        t.subject_cui,
        t.object_cui,
        cast(null as varchar) as role,
        cast(null as integer) as evidence_rank,
        cast(null as varchar) as strength,
        cast(null as varchar) as kb,
        cast(null as varchar) as predicate_or_rela,
        cast(null as varchar) as match_level,
        cast(null as varchar) as pmid,
        cast(null as varchar) as sentence,
        cast(null as varchar) as context_event_key,
        cast(null as varchar) as context_cui
    from checks
    inner join {{ ref('fct_triples') }} as t on checks.triple_id = t.triple_id
    where checks.check_name = 'mapped'
        and checks.status <> 'pass'
),

conflict_rows as (
    select
        checks.triple_id,
        checks.check_name,
        cast(null as integer) as claim_rank,
        cast(null as varchar) as subject_cui,
        x.answer_cui as object_cui,
        x.rule as role,
        x.rank as evidence_rank,
        cast(null as varchar) as strength,
        x.kb,
        x.predicate_or_rela,
        cast(null as varchar) as match_level,
        x.pmid,
        x.sentence,
        x.context_event_key,
        x.context_cui
    from checks
    inner join {{ ref('fct_context_conflicts') }} as x on checks.triple_id = x.triple_id
    where checks.check_name = 'no_context_conflict'
),

evidence as (
    select * from claim_rows
    union all
    select * from half_mapped_rows
    union all
    select * from conflict_rows
)

select
    t.task,
    chosen.verdict,
    chosen.failed_reason_codes,
    checks.check_name,
    checks.status,
    checks.reason_code,
    subject.label as subject_label,
    evidence.subject_cui,
    subject_concept.name as subject_concept,
    t.relation,
    object.label as object_label,
    evidence.object_cui,
    object_concept.name as object_concept,
    context.label as context_label,
    evidence.context_cui,
    checks.n_supporting_pmids,
    checks.n_supporting_curated,
    checks.n_contradicting_pmids,
    evidence.role as evidence_role,
    evidence.strength,
    evidence.kb,
    evidence.predicate_or_rela,
    evidence.match_level,
    evidence.pmid,
    evidence.sentence
from chosen
inner join {{ ref('fct_triples') }} as t on chosen.triple_id = t.triple_id
inner join {{ ref('fct_visit_events') }} as subject on t.subject_event_key = subject.event_key
inner join {{ ref('fct_visit_events') }} as object on t.object_event_key = object.event_key
inner join checks on t.triple_id = checks.triple_id
left join evidence on checks.check_name = evidence.check_name
left join {{ ref('fct_visit_events') }} as context
    on evidence.context_event_key = context.event_key
left join {{ ref('dim_concepts') }} as subject_concept
    on evidence.subject_cui = subject_concept.cui
left join {{ ref('dim_concepts') }} as object_concept
    on evidence.object_cui = object_concept.cui
order by
    checks.check_order,
    evidence.role,
    evidence.context_event_key,
    evidence.claim_rank,
    evidence.evidence_rank
