{{ config(tags=['portable']) }}

with

evidence_policies as (

    select * from {{ ref('evidence_policies') }}

),

yield_sweep as (

    select * from {{ ref('yield_sweep') }}

),

match_levels as (

    select * from {{ ref('match_levels') }}

),

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

-- What a row of the grid leaves empty stays as the policy has it.
points as (

    select
        policies.policy,
        yield_sweep.threshold,
        yield_sweep.position,
        yield_sweep.threshold_value,
        yield_sweep.is_nested,
        {%- for column in ['uses_curated', 'uses_undirected', 'min_negative_pmids',
            'max_negative_share', 'max_hazard_share', 'min_direction_share'] %}
        coalesce(yield_sweep.{{ column }}, policies.{{ column }}) as {{ column }},
        {%- endfor %}
        policies.min_ambiguous_pmids,
        case
            when coalesce(yield_sweep.uses_articles, true)
                then coalesce(yield_sweep.min_supporting_pmids, policies.min_supporting_pmids)
        end as min_supporting_pmids,
        coalesce(yield_sweep.min_ehr_lift, policies.min_ehr_lift, 0) as min_ehr_lift,
        coalesce(match_levels.level_rank, policies.max_level_rank) as max_level_rank,
        policies.uses_curated as policy_uses_curated,
        policies.uses_undirected as policy_uses_undirected,
        policies.min_negative_pmids as policy_min_negative_pmids,
        policies.max_negative_share as policy_max_negative_share,
        policies.max_hazard_share as policy_max_hazard_share,
        policies.min_direction_share as policy_min_direction_share,
        policies.min_supporting_pmids as policy_min_supporting_pmids,
        coalesce(policies.min_ehr_lift, 0) as policy_min_ehr_lift,
        policies.max_level_rank as policy_max_level_rank
    from policies
    cross join yield_sweep
    left join match_levels
        on yield_sweep.max_match_level = match_levels.match_level

)

{%- set thresholds = ['uses_curated', 'uses_undirected', 'min_negative_pmids',
    'max_negative_share', 'max_hazard_share', 'min_direction_share', 'min_supporting_pmids',
    'min_ehr_lift', 'max_level_rank'] %}

select
    policy,
    threshold,
    position,
    threshold_value,
    is_nested,
    min_ambiguous_pmids,
    {%- for column in thresholds %}
    {{ column }},
    {%- endfor %}
    {%- for column in thresholds %}
    {{ 'and ' if not loop.first }}{{ column }} is not distinct from policy_{{ column }}
    {%- endfor %}
        as is_policy_point
from points
