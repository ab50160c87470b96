-- Why was this triple rejected, or accepted? The whole chain, one row per link: its events with
-- their source codes, the concepts they were mapped to, who proposed it, every check, the articles
-- and relations behind it, context events that speak against it, the verdict under every policy.
-- Run with: dbt show --select why_was_this_triple_rejected --limit -1 --vars "{triple: <id>}"
-- Without the variable it takes the first triple that the active policy rejects, one of the null
-- generator only when there is no other. Checks stand at their fixed thresholds; the reasons of a
-- verdict are what the policy made of them. `ehrbench explain` prints the same to read.
with chosen as (
    select v.triple_id
    from {{ ref('fct_triple_verdicts') }} as v
    where
        v.policy = '{{ active_policy() }}'
        {% if var('triple', none) -%}
        and v.triple_id = '{{ var('triple') | replace("'", "''") }}'
        {%- else -%}
        and v.verdict = 'rejected'
        {%- endif %}
    order by v.failed_reason_codes like '%shuffled_donor%', v.triple_id
    limit 1
),

triple_events as (
    select te.*
    from chosen
    inner join {{ ref('fct_triple_events') }} as te on chosen.triple_id = te.triple_id
),

claims as (
    select c.*
    from chosen
    inner join {{ ref('fct_triple_claims') }} as c on chosen.triple_id = c.triple_id
),

event_links as (
    select
        1 as place,
        'event' as link,
        te.role || case when te.role = 'context' then ' ' || te.position else '' end as name,
        e.label as detail,
        e.code_system as outcome,
        cast(null as varchar) as reason,
        e.source_code || ' -> ' || e.normalized_code as predicate_or_code,
        cast(null as varchar) as match_level,
        cast(null as varchar) as kb,
        cast(null as varchar) as pmid,
        cast(null as integer) as year,
        cast(null as varchar) as sentence
    from triple_events as te
    inner join {{ ref('fct_visit_events') }} as e on te.event_key = e.event_key
),

concept_links as (
    select
        2 as place,
        'concept' as link,
        te.role || case when te.role = 'context' then ' ' || te.position else '' end as name,
        coalesce(k.name, r.meaning) as detail,
        coalesce(b.cui, 'unmapped') as outcome,
        b.reason,
        b.mapping_method as predicate_or_code,
        b.mapping_level as match_level,
        cast(null as varchar) as kb,
        cast(null as varchar) as pmid,
        cast(null as integer) as year,
        cast(null as varchar) as sentence
    from triple_events as te
    inner join {{ ref('brg_event_concepts') }} as b on te.event_key = b.event_key
    left join {{ ref('dim_concepts') }} as k on b.cui = k.cui
    left join {{ ref('mapping_reasons') }} as r on b.reason = r.reason
),

proposal_links as (
    select
        3 as place,
        'proposal' as link,
        p.generator as name,
        p.why as detail,
        cast(null as varchar) as outcome,
        cast(null as varchar) as reason,
        cast(null as varchar) as predicate_or_code,
        cast(null as varchar) as match_level,
        cast(null as varchar) as kb,
        cast(null as varchar) as pmid,
        cast(null as integer) as year,
        cast(null as varchar) as sentence
    from chosen
    inner join {{ ref('fct_triple_proposals') }} as p on chosen.triple_id = p.triple_id
),

check_links as (
    select
        3 + n.check_order as place,
        'check' as link,
        c.check_name as name,
        coalesce(r.meaning, n.comment)
            || case
                when c.check_name = 'positive_support' then ' (for it: ' || c.n_supporting_pmids
                    || ' articles, ' || c.n_supporting_curated || ' curated; against it: '
                    || c.n_contradicting_pmids || ' articles)'
                else ''
            end as detail,
        c.status as outcome,
        c.reason_code as reason,
        cast(null as varchar) as predicate_or_code,
        cast(null as varchar) as match_level,
        cast(null as varchar) as kb,
        cast(null as varchar) as pmid,
        cast(null as integer) as year,
        cast(null as varchar) as sentence
    from chosen
    inner join {{ ref('fct_triple_checks') }} as c on chosen.triple_id = c.triple_id
    inner join {{ ref('validation_checks') }} as n on c.check_name = n.check_name
    left join {{ ref('validation_reasons') }} as r
        on c.check_name = r.check_name
        and c.reason_code = r.reason_code
),

-- Every pair of concepts of the two events, as the checks read them.
evidence_links as (
    select
        3 + n.check_order as place,
        'evidence' as link,
        n.check_name as name,
        e.subject_cui || ' ' || coalesce(s.name, '') || ' -> '
            || e.object_cui || ' ' || coalesce(o.name, '') as detail,
        e.role as outcome,
        e.strength as reason,
        e.predicate_or_rela as predicate_or_code,
        e.match_level,
        e.kb || coalesce(' ' || e.sab, '') as kb,
        e.pmid,
        e.year,
        e.sentence
    from claims
    inner join {{ ref('fct_claim_evidence') }} as e on claims.claim_key = e.claim_key
    inner join {{ ref('validation_checks') }} as n
        on n.check_name = case e.role
            when 'support' then 'positive_support'
            when 'contradict' then 'no_negative_evidence'
            else 'unambiguous_relation'
        end
    left join {{ ref('dim_concepts') }} as s on e.subject_cui = s.cui
    left join {{ ref('dim_concepts') }} as o on e.object_cui = o.cui
),

conflict_links as (
    select
        3 + n.check_order as place,
        'conflict' as link,
        n.check_name as name,
        e.label || coalesce(' (' || x.context_cui || ')', '')
            || coalesce(' against ' || x.answer_cui, '') as detail,
        'conflict' as outcome,
        x.rule as reason,
        x.predicate_or_rela as predicate_or_code,
        cast(null as varchar) as match_level,
        x.kb,
        x.pmid,
        cast(null as integer) as year,
        x.sentence
    from chosen
    inner join {{ ref('fct_context_conflicts') }} as x on chosen.triple_id = x.triple_id
    inner join {{ ref('validation_checks') }} as n on n.check_name = 'no_context_conflict'
    left join {{ ref('fct_visit_events') }} as e on x.context_event_key = e.event_key
),

verdict_links as (
    select
        100 as place,
        'verdict' as link,
        v.policy as name,
        p.comment as detail,
        v.verdict as outcome,
        v.failed_reason_codes as reason,
        cast(null as varchar) as predicate_or_code,
        v.match_level,
        cast(null as varchar) as kb,
        cast(null as varchar) as pmid,
        cast(null as integer) as year,
        cast(null as varchar) as sentence
    from chosen
    inner join {{ ref('fct_triple_verdicts') }} as v on chosen.triple_id = v.triple_id
    left join {{ ref('evidence_policies') }} as p on v.policy = p.policy
),

links as (
    select * from event_links
    union all
    select * from concept_links
    union all
    select * from proposal_links
    union all
    select * from check_links
    union all
    select * from evidence_links
    union all
    select * from conflict_links
    union all
    select * from verdict_links
)

select
    t.triple_id,
    t.task,
    t.relation,
    links.* exclude (place)
from chosen
inner join {{ ref('fct_triples') }} as t on chosen.triple_id = t.triple_id
cross join links
order by
    links.place,
    links.link = 'check' desc,
    links.link,
    case split_part(links.name, ' ', 1) when 'subject' then 1 when 'object' then 2 else 3 end,
    links.name,
    links.outcome,
    links.reason,
    links.kb,
    links.year desc,
    links.pmid,
    links.detail,
    links.predicate_or_code,
    links.sentence
