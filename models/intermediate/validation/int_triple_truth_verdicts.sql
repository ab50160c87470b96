{{ config(materialized='view') }}

with

triple_truth as (

    select * from {{ ref('int_triple_truth') }}

),

truth_conflicts as (

    select * from {{ ref('int_triple_truth_conflicts') }}

),

evidence_policies as (

    select * from {{ ref('evidence_policies') }}

),

conflict_rules as (

    select * from {{ ref('conflict_rules') }}

),

policy_conflicts as (

    select distinct
        truth_conflicts.triple_id,
        conflict_rules.policy
    from truth_conflicts
    inner join conflict_rules
        on truth_conflicts.rule = conflict_rules.rule
    where conflict_rules.is_enabled

),

-- What the policy would read if the knowledge base told the truth.
readings as (

    select
        triple_truth.triple_id,
        triple_truth.is_donor,
        triple_truth.is_mapped,
        policies.policy,
        policies.min_supporting_pmids,
        policies.min_negative_pmids,
        policies.max_negative_share,
        policies.min_ambiguous_pmids,
        policies.max_hazard_share,
        policies.min_direction_share,
        case
            when policies.uses_inherited then triple_truth.n_supporting_pmids
            else triple_truth.n_supporting_pmids_exact
        end as n_articles,
        case
            when not policies.uses_curated then 0
            when policies.uses_inherited then triple_truth.n_supporting_curated
            else triple_truth.n_supporting_curated_exact
        end as n_curated,
        triple_truth.n_supporting_pmids_exact
            + case
                when policies.uses_curated then triple_truth.n_supporting_curated_exact
                else 0
            end as n_for,
        triple_truth.n_contradicting_pmids as n_against,
        triple_truth.n_hazard_pmids,
        triple_truth.n_reverse_pmids
    from triple_truth
    cross join evidence_policies as policies

),

expected as (

    select
        readings.triple_id,
        readings.policy,
        readings.n_articles >= readings.min_supporting_pmids or readings.n_curated > 0
            as is_supported,
        readings.n_against < readings.min_negative_pmids
        or readings.n_against
            <= readings.max_negative_share * (readings.n_against + readings.n_for)
            as is_undenied,
        (
            readings.n_hazard_pmids < readings.min_ambiguous_pmids
            or readings.n_hazard_pmids
                <= readings.max_hazard_share * (readings.n_hazard_pmids + readings.n_for)
        ) and (
            readings.n_reverse_pmids < readings.min_ambiguous_pmids
            or readings.n_for
                >= readings.min_direction_share * (readings.n_reverse_pmids + readings.n_for)
        ) as is_unambiguous,
        policy_conflicts.triple_id is null as is_unconflicted,
        readings.is_mapped and not readings.is_donor as is_usable
    from readings
    left join policy_conflicts
        on readings.triple_id = policy_conflicts.triple_id
        and readings.policy = policy_conflicts.policy

)

select
    triple_id,
    policy,
    case
        when is_usable and is_supported and is_undenied and is_unambiguous and is_unconflicted
            then 'accepted'
        else 'rejected'
    end as verdict
from expected
