{%- set rules = var('context_critical_rules') %}
-- One row per template x concept of its pool that fits the subject and is wrong for this patient:
-- the knowledge base supports it for the subject, and a context event rules it out. By curated
-- statements only, and under no policy: policies never change an item.
with

templates as (

    select * from {{ ref('int_templates') }}

),

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

mappings as not materialized (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

supported as (

    select * from {{ ref('int_supported_pairs') }}

),

relations as (

    select distinct
        relation,
        task
    from {{ ref('relations') }}

),

harms as (

    select * from {{ ref('int_treatment_harms') }}

),

interactions as (

    select * from {{ ref('int_drug_interactions') }}
    where severity = 'severe'

),

task_support as (

    select distinct
        relations.task,
        supported.subject_cui_id,
        supported.object_cui_id,
        supported.strength
    from supported
    inner join relations
        on supported.relation = relations.relation

),

subject_concepts as (

    select distinct
        templates.template_number,
        templates.pool_number,
        templates.task,
        mappings.cui_id
    from templates
    inner join mappings
        on templates.subject_event_key = mappings.event_key
        and mappings.mapping_level not in ('part', 'none')
    where templates.answer_event_type <> 'diagnosis'

),

fitting as (

    select distinct
        subject_concepts.template_number,
        subject_concepts.pool_number,
        subject_concepts.task,
        vocabulary.cui_id
    from subject_concepts
    inner join task_support
        on subject_concepts.task = task_support.task
        and subject_concepts.cui_id = task_support.subject_cui_id
        and task_support.strength = 'strong'
    inner join vocabulary
        on subject_concepts.pool_number = vocabulary.pool_number
        and task_support.object_cui_id = vocabulary.cui_id

),

-- An event with several concepts rules out by any of them; a part of a product interacts too.
context_concepts as (

    select distinct
        templates.template_number,
        scenario.event_key,
        scenario.event_type,
        mappings.cui_id
    from templates
    inner join scenario
        on templates.template_key = scenario.template_key
        and templates.subject_event_key <> scenario.event_key
    inner join mappings
        on scenario.event_key = mappings.event_key

),

ruled_out as (

    select
        fitting.template_number,
        fitting.pool_number,
        fitting.task,
        fitting.cui_id,
        context_concepts.event_key,
        harms.rule
    from fitting
    inner join context_concepts
        on fitting.template_number = context_concepts.template_number
        and context_concepts.event_type = 'diagnosis'
    inner join harms
        on fitting.cui_id = harms.treatment_cui_id
        and context_concepts.cui_id = harms.disease_cui_id

    union

    select
        fitting.template_number,
        fitting.pool_number,
        fitting.task,
        fitting.cui_id,
        context_concepts.event_key,
        'severe_interaction' as rule
    from fitting
    inner join context_concepts
        on fitting.template_number = context_concepts.template_number
        and context_concepts.event_type = 'medication'
    inner join interactions
        on fitting.cui_id = interactions.cui_id
        and context_concepts.cui_id = interactions.other_cui_id

),

-- What is said to help in the very event that rules it out proves nothing.
helping as (

    select distinct
        ruled_out.template_number,
        ruled_out.cui_id,
        ruled_out.event_key
    from ruled_out
    inner join context_concepts
        on ruled_out.template_number = context_concepts.template_number
        and ruled_out.event_key = context_concepts.event_key
    inner join task_support
        on ruled_out.task = task_support.task
        and context_concepts.cui_id = task_support.subject_cui_id
        and ruled_out.cui_id = task_support.object_cui_id

),

critical as (

    select
        ruled_out.template_number,
        templates.template_key,
        ruled_out.pool_number,
        ruled_out.cui_id,
        min(ruled_out.rule) as rule
    from ruled_out
    inner join templates
        on ruled_out.template_number = templates.template_number
    anti join helping
        on ruled_out.template_number = helping.template_number
        and ruled_out.cui_id = helping.cui_id
        and ruled_out.event_key = helping.event_key
    where ruled_out.rule in ('{{ rules | join("', '") }}')
    group by all

)

select * from critical
