-- An option that the knowledge base links to a scenario concept by a relation of the task. Answers
-- are accepted because of such a link and distractors are drawn without one, so this is near 100
-- per cent by design: who knows the literature can answer. It is published as that ceiling.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

surface_options as (

    select * from {{ ref('int_surface_options') }}

),

scenario_concepts as (

    select * from {{ ref('int_scenario_concepts') }}

),

linked as (

    select * from {{ ref('int_kb_linked_pairs') }}

),

templates_linked as (

    select distinct
        scenario_concepts.template_number,
        linked.cui_id
    from scenario_concepts
    inner join linked
        on scenario_concepts.task = linked.task
        and scenario_concepts.cui_id = linked.scenario_cui_id

),

options as (

    select
        surface_options.*,
        case when templates_linked.cui_id is not null then 1 else 0 end as is_linked
    from surface_options
    left join templates_linked
        on surface_options.template_number = templates_linked.template_number
        and surface_options.cui_id = templates_linked.cui_id

),

{{ baseline_picks('B5a', [('linked', 'is_linked')]) }}

select * from picked
