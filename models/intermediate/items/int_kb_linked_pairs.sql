-- One row per task x scenario concept x answer concept that the knowledge base links by a relation
-- of the task: every source, either direction, weak and undirected predicates too, with one end
-- relaxed to any relative (an equivalent is the concept itself). Wider than support on purpose, and
-- the same under every policy: a distractor must not be right.
with

scenario_concepts as (

    select distinct
        task,
        cui_id
    from {{ ref('int_scenario_concepts') }}

),

vocabulary as (

    select distinct
        task,
        cui_id
    from {{ ref('int_answer_vocabulary') }}

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}

),

vocabulary_near as (

    select * from {{ ref('int_vocabulary_relatives') }}

),

edge_roles as (

    select * from {{ ref('int_edge_roles') }}
    where role in ('support', 'reverse_support')

),

relations as (

    select distinct
        relation,
        task
    from {{ ref('relations') }}

),

scenario_relatives as (

    select
        scenario_concepts.cui_id,
        relatives.relative_cui_id as near_cui_id,
        relatives.relation
    from scenario_concepts
    inner join relatives
        on scenario_concepts.cui_id = relatives.cui_id

    union all

    select
        scenario_concepts.cui_id,
        relatives.cui_id as near_cui_id,
        relatives.relation
    from scenario_concepts
    inner join relatives
        on scenario_concepts.cui_id = relatives.relative_cui_id

    union all

    select
        cui_id,
        cui_id as near_cui_id,
        'self' as relation
    from scenario_concepts

),

scenario_near as (

    select
        cui_id,
        near_cui_id,
        bool_or(relation in ('self', 'equivalent')) as is_same
    from scenario_relatives
    group by
        cui_id,
        near_cui_id

),

pairs as (

    select
        relations.task,
        edge_roles.subject_cui_id as one_cui_id,
        edge_roles.object_cui_id as other_cui_id
    from edge_roles
    inner join relations
        on edge_roles.relation = relations.relation

    union

    select
        relations.task,
        edge_roles.object_cui_id as one_cui_id,
        edge_roles.subject_cui_id as other_cui_id
    from edge_roles
    inner join relations
        on edge_roles.relation = relations.relation

),

linked as (

    select distinct
        scenario_concepts.task,
        scenario_near.cui_id as scenario_cui_id,
        vocabulary_near.cui_id
    from pairs
    inner join scenario_near
        on pairs.one_cui_id = scenario_near.near_cui_id
    inner join vocabulary_near
        on pairs.other_cui_id = vocabulary_near.near_cui_id
        and (scenario_near.is_same or vocabulary_near.is_same)
    inner join scenario_concepts
        on scenario_near.cui_id = scenario_concepts.cui_id
        and pairs.task = scenario_concepts.task
    inner join vocabulary
        on vocabulary_near.cui_id = vocabulary.cui_id
        and scenario_concepts.task = vocabulary.task

)

select * from linked
