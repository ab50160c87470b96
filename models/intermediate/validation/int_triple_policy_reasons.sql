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

match_levels as (

    select * from {{ ref('match_levels') }}

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

-- The widest match level that a policy lets count.
level_caps as (

    select
        max(level_rank) as widest_rank,
        max(case when not is_inherited then level_rank end) as own_rank
    from match_levels

),

policies as (

    select
        evidence_policies.*,
        case
            when evidence_policies.uses_inherited then level_caps.widest_rank
            else level_caps.own_rank
        end as max_level_rank
    from evidence_policies
    cross join level_caps

),

counted as (

    select
        triples.task,
        triple_counts.*
    from triples
    inner join triple_counts
        on triples.triple_id = triple_counts.triple_id

),

weighed as (

    select
        counted.triple_id,
        policies.policy,
        counted.is_kb_loaded,
        counted.n_claims,
        {{ support_level_rank('counted', 'policies') }} as level_rank,
        {{ ambiguity_reason('counted', 'policies') }} as reason_unambiguous_relation,
        {{ negation_reason('counted', 'policies') }} as reason_no_negative_evidence,
        {{ lift_reason('counted', 'policies') }} as reason_ehr_lift
    from counted
    cross join policies

),

decided as (

    select
        *,
        {{ support_reason('weighed', 'level_rank') }} as reason_positive_support
    from weighed

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
    end as reason_no_context_conflict,
    decided.reason_ehr_lift,
    match_levels.match_level
from decided
inner join grounded
    on decided.triple_id = grounded.triple_id
inner join mapped
    on decided.triple_id = mapped.triple_id
left join match_levels
    on decided.level_rank = match_levels.level_rank
left join conflicting
    on decided.triple_id = conflicting.triple_id
    and decided.policy = conflicting.policy
