{{ config(tags=['portable']) }}

{%- set counted = ['n_contradicting_pmids', 'n_contradicting_curated', 'n_hazard_pmids',
    'n_reverse_pmids'] %}
{%- set weighed = ['n_supporting_pmids_exact', 'n_supporting_curated_exact'] %}

with

policy_reasons as (

    select * from {{ ref('int_triple_policy_reasons') }}

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

generated as (

    select * from {{ ref('int_triple_generators') }}

),

sweep_points as (

    select * from {{ ref('int_sweep_points') }}

),

most_articles as (

    select max(min_supporting_pmids) as n_pmids
    from sweep_points

),

asked_lifts as (

    select distinct min_ehr_lift as lift
    from sweep_points

),

seen_lifts as (

    select distinct ehr_lift
    from triple_counts
    where ehr_lift is not null

),

-- The largest lift that some point asks for and the triple has: all that a point can tell apart.
lift_steps as (

    select
        seen_lifts.ehr_lift,
        max(asked_lifts.lift) as lift_step
    from seen_lifts
    inner join asked_lifts
        on seen_lifts.ehr_lift >= asked_lifts.lift
    group by seen_lifts.ehr_lift

),

-- Counts beyond what any point asks for are cut, and support is weighed only against something.
-- A triple that is rejected whatever the thresholds needs no counts at all.
signed as (

    select
        policy_reasons.policy,
        generated.source,
        generated.task,
        generated.generator,
        policy_reasons.reason_grounded is null as is_grounded,
        policy_reasons.reason_mapped is null
            and policy_reasons.reason_no_context_conflict is null
            and triple_counts.is_kb_loaded as is_open,
        {%- for level in match_level_names() %}
        least(triple_counts.n_pmids_to_{{ level }}, most_articles.n_pmids)
            as n_pmids_to_{{ level }},
        least(triple_counts.n_curated_to_{{ level }}, 1) as n_curated_to_{{ level }},
        least(triple_counts.n_undirected_to_{{ level }}, 1) as n_undirected_to_{{ level }},
        {%- endfor %}
        {%- for column in counted %}
        triple_counts.{{ column }},
        {%- endfor %}
        {%- for column in weighed %}
        case
            when triple_counts.n_contradicting_pmids + triple_counts.n_hazard_pmids
                + triple_counts.n_reverse_pmids = 0 then 0
            else triple_counts.{{ column }}
        end as {{ column }},
        {%- endfor %}
        lift_steps.lift_step as ehr_lift
    from policy_reasons
    inner join generated
        on policy_reasons.triple_id = generated.triple_id
    inner join triple_counts
        on policy_reasons.triple_id = triple_counts.triple_id
    cross join most_articles
    left join lift_steps
        on triple_counts.ehr_lift = lift_steps.ehr_lift

),

blanked as (

    select
        policy,
        source,
        task,
        generator,
        is_grounded,
        is_open,
        {%- for level in match_level_names() %}
        {%- for column in ['n_pmids', 'n_curated', 'n_undirected'] %}
        case when is_open then {{ column }}_to_{{ level }} else 0 end
            as {{ column }}_to_{{ level }},
        {%- endfor %}
        {%- endfor %}
        {%- for column in counted + weighed %}
        case when is_open then {{ column }} else 0 end as {{ column }},
        {%- endfor %}
        case when is_open then ehr_lift end as ehr_lift
    from signed

)

{%- set signature %}
    policy,
    source,
    task,
    generator,
    is_grounded,
    is_open,
    {%- for level in match_level_names() %}
    {%- for column in ['n_pmids', 'n_curated', 'n_undirected'] %}
    {{ column }}_to_{{ level }},
    {%- endfor %}
    {%- endfor %}
    {%- for column in counted + weighed %}
    {{ column }},
    {%- endfor %}
    ehr_lift
{%- endset %}

select
    {{- signature }},
    count(*) as n_triples
from blanked
group by
    {{- signature }}
