{{ config(materialized='view') }}

-- One row per template x concept of its pool that is plausible beside its scenario, with the first
-- reason why it may not stand beside the answer, or none. A view: int_distractor_candidates keeps
-- what may stand; the rest is asked for a few templates at a time.
with

templates as (

    select * from {{ ref('int_templates') }}

),

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

scenario_concepts as (

    select * from {{ ref('int_scenario_concepts') }}

),

cooccurrence as (

    select * from {{ ref('int_concept_cooccurrence') }}

),

linked as (

    select * from {{ ref('int_kb_linked_pairs') }}

),

excluded as (

    select * from {{ ref('int_person_excluded_concepts') }}

),

conflicts as (

    select * from {{ ref('int_option_conflicts') }}

),

critical as (

    select * from {{ ref('int_context_critical_pairs') }}

),

absurd as (

    select * from {{ ref('int_absurd_answers') }}

),

sharing_words as (

    select * from {{ ref('int_leak_shared_words') }}

),

plausible as (

    select distinct
        scenario_concepts.template_number,
        vocabulary.pool_number,
        vocabulary.cui_id
    from scenario_concepts
    inner join cooccurrence
        on scenario_concepts.cui_id = cooccurrence.scenario_cui_id
    inner join vocabulary
        on scenario_concepts.pool_number = vocabulary.pool_number
        and cooccurrence.cui_id = vocabulary.cui_id
        and cooccurrence.event_type = vocabulary.event_type

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

with_links as (

    select
        plausible.template_number,
        templates.template_key,
        plausible.pool_number,
        plausible.cui_id,
        templates.person_group,
        templates.answer_cui_id,
        templates_linked.cui_id is not null as is_linked,
        templates_linked.cui_id is not null and critical.cui_id is not null as is_critical
    from plausible
    inner join templates
        on plausible.template_number = templates.template_number
    left join templates_linked
        on plausible.template_number = templates_linked.template_number
        and plausible.cui_id = templates_linked.cui_id
    left join critical
        on plausible.template_number = critical.template_number
        and plausible.cui_id = critical.cui_id

),

-- What the knowledge base links to the scenario could be right, unless the context rules it out. A
-- rare word of the scenario rules out an answer (L11), so it rules out a distractor too.
judged as (

    select
        template_number,
        template_key,
        pool_number,
        cui_id,
        is_critical,
        case
            when cui_id = answer_cui_id then 'answer'
            when is_linked and not is_critical then 'linked'
            when (person_group, cui_id) in (select (person_group, cui_id) from excluded)
                then 'in_record'
            when (template_number, cui_id) in (select (template_number, cui_id) from absurd)
                then 'impossible'
            when (template_number, cui_id) in (select (template_number, cui_id) from sharing_words)
                then 'rare_word'
            when (pool_number, answer_cui_id, cui_id) in (
                select (pool_number, cui_id, other_cui_id) from conflicts
            )
                then 'like_answer'
        end as reason
    from with_links

)

select * from judged
