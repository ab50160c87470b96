{{ config(materialized='view', tags=['portable']) }}

with

validation_checks as (

    select * from {{ ref('validation_checks') }}
    where check_name = 'no_context_conflict'

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

context_conflicts as (

    select * from {{ ref('int_context_conflicts') }}

),

conflict_rules as (

    select * from {{ ref('conflict_rules') }}

),

fixed_rules as (

    select
        rule,
        rule_order
    from conflict_rules
    where policy = 'fixed'
        and is_enabled

),

first_conflicts as (

    select
        context_conflicts.triple_id,
        min(fixed_rules.rule_order) as rule_order,
        max(context_conflicts.n_pmids) as n_pmids
    from context_conflicts
    inner join fixed_rules
        on context_conflicts.rule = fixed_rules.rule
    group by context_conflicts.triple_id

),

conflicting as (

    select
        first_conflicts.triple_id,
        fixed_rules.rule,
        first_conflicts.n_pmids
    from first_conflicts
    inner join fixed_rules
        on first_conflicts.rule_order = fixed_rules.rule_order

)

-- Excludes1 reads codes and needs no concept, so a conflict is found even for an unmapped triple.
select
    triple_counts.triple_id,
    validation_checks.check_name,
    case
        when conflicting.rule is not null then 'fail'
        when triple_counts.n_claims = 0 or not triple_counts.is_kb_loaded then 'not_assessed'
        else 'pass'
    end as status,
    case
        when conflicting.rule is not null then concat('context_conflict_', conflicting.rule)
        when not triple_counts.is_kb_loaded then 'kb_not_loaded'
        when triple_counts.n_claims = 0 then 'unmapped'
    end as reason_code,
    cast(null as integer) as n_supporting_pmids,
    cast(null as integer) as n_supporting_curated,
    coalesce(conflicting.n_pmids, 0) as n_contradicting_pmids
from triple_counts
cross join validation_checks
left join conflicting
    on triple_counts.triple_id = conflicting.triple_id
