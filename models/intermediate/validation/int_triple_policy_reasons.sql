{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

grounded as (

    select * from {{ ref('int_check__grounded') }}

),

mapped as (

    select * from {{ ref('int_check__mapped') }}

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

context_conflicts as (

    select * from {{ ref('int_context_conflicts') }}

),

evidence_policies as (

    select * from {{ ref('evidence_policies') }}

),

conflict_rules as (

    select * from {{ ref('conflict_rules') }}

),

enabled_rules as (

    select
        policy,
        rule,
        rule_order
    from conflict_rules
    where is_enabled

),

first_conflicts as (

    select
        context_conflicts.triple_id,
        enabled_rules.policy,
        min(enabled_rules.rule_order) as rule_order
    from context_conflicts
    inner join enabled_rules
        on context_conflicts.rule = enabled_rules.rule
    group by
        context_conflicts.triple_id,
        enabled_rules.policy

),

conflicting as (

    select
        first_conflicts.triple_id,
        first_conflicts.policy,
        enabled_rules.rule
    from first_conflicts
    inner join enabled_rules
        on first_conflicts.policy = enabled_rules.policy
        and first_conflicts.rule_order = enabled_rules.rule_order

),

-- What each policy lets count. The shares compare like with like: negation and the opposite are
-- read at the exact pair, so is the support they are weighed against.
counted as (

    select
        triples.triple_id,
        evidence_policies.policy,
        evidence_policies.min_supporting_pmids,
        evidence_policies.min_negative_pmids,
        evidence_policies.max_negative_share,
        evidence_policies.min_ambiguous_pmids,
        evidence_policies.max_hazard_share,
        evidence_policies.min_direction_share,
        triple_counts.is_kb_loaded,
        triple_counts.n_claims,
        case
            when evidence_policies.uses_inherited then triple_counts.n_supporting_pmids
            else triple_counts.n_supporting_pmids_exact
        end as n_supporting_pmids,
        case
            when not evidence_policies.uses_curated then 0
            when evidence_policies.uses_inherited then triple_counts.n_supporting_curated
            else triple_counts.n_supporting_curated_exact
        end as n_supporting_curated,
        case
            when not evidence_policies.uses_undirected or triples.task <> 'px' then 0
            when evidence_policies.uses_inherited then triple_counts.n_undirected_curated
            else triple_counts.n_undirected_curated_exact
        end as n_undirected_curated,
        triple_counts.n_supporting_pmids_exact
            + case
                when evidence_policies.uses_curated then triple_counts.n_supporting_curated_exact
                else 0
            end as n_exact,
        triple_counts.n_contradicting_pmids,
        case
            when evidence_policies.uses_curated then triple_counts.n_contradicting_curated
            else 0
        end as n_contradicting_curated,
        triple_counts.n_hazard_pmids,
        triple_counts.n_reverse_pmids
    from triples
    cross join evidence_policies
    inner join triple_counts
        on triples.triple_id = triple_counts.triple_id

),

decided as (

    select
        triple_id,
        policy,
        case
            when not is_kb_loaded then 'kb_not_loaded'
            when n_claims = 0 then null
            when n_supporting_pmids >= min_supporting_pmids then null
            when n_supporting_curated + n_undirected_curated > 0 then null
            else 'no_positive_support'
        end as reason_positive_support,
        case
            when n_hazard_pmids >= min_ambiguous_pmids
                and n_hazard_pmids > max_hazard_share * (n_hazard_pmids + n_exact)
                then 'ambiguous_relation'
            when n_reverse_pmids >= min_ambiguous_pmids
                and n_exact < min_direction_share * (n_exact + n_reverse_pmids)
                then 'ambiguous_relation'
        end as reason_unambiguous_relation,
        case
            when n_contradicting_curated > 0 then 'negative_evidence'
            when n_contradicting_pmids >= min_negative_pmids
                and n_contradicting_pmids
                    > max_negative_share * (n_contradicting_pmids + n_exact)
                then 'negative_evidence'
        end as reason_no_negative_evidence
    from counted

)

select
    decided.triple_id,
    decided.policy,
    grounded.reason_code as reason_grounded,
    mapped.reason_code as reason_mapped,
    decided.reason_positive_support,
    decided.reason_unambiguous_relation,
    decided.reason_no_negative_evidence,
    case
        when conflicting.rule is not null then concat('context_conflict_', conflicting.rule)
    end as reason_no_context_conflict
from decided
inner join grounded
    on decided.triple_id = grounded.triple_id
inner join mapped
    on decided.triple_id = mapped.triple_id
left join conflicting
    on decided.triple_id = conflicting.triple_id
    and decided.policy = conflicting.policy
