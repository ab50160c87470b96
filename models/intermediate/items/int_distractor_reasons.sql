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

-- Integers alone, as these are templates times answers.
marks as (

    select
        scenario_concepts.template_number,
        vocabulary.cui_id,
        true as is_plausible,
        false as is_linked
    from scenario_concepts
    inner join cooccurrence
        on scenario_concepts.cui_id = cooccurrence.scenario_cui_id
    inner join vocabulary
        on scenario_concepts.pool_number = vocabulary.pool_number
        and cooccurrence.cui_id = vocabulary.cui_id
        and cooccurrence.event_type = vocabulary.event_type

    union all

    select
        scenario_concepts.template_number,
        vocabulary.cui_id,
        false as is_plausible,
        true as is_linked
    from scenario_concepts
    inner join linked
        on scenario_concepts.task = linked.task
        and scenario_concepts.cui_id = linked.scenario_cui_id
    inner join vocabulary
        on scenario_concepts.pool_number = vocabulary.pool_number
        and linked.cui_id = vocabulary.cui_id

),

plausible as (

    select
        template_number,
        cui_id,
        bool_or(is_linked) as is_linked
    from marks
    group by
        template_number,
        cui_id
    having bool_or(is_plausible)

),

judged as (

    select
        plausible.template_number,
        templates.template_key,
        templates.pool_number,
        plausible.cui_id,
        plausible.is_linked and critical.cui_id is not null as is_critical,
        case
            when plausible.cui_id = templates.answer_cui_id then 'answer'
            -- What the knowledge base links to the scenario could be right, unless the context
            -- rules it out.
            when plausible.is_linked and critical.cui_id is null then 'linked'
            when excluded.cui_id is not null then 'in_record'
            when absurd.cui_id is not null then 'impossible'
            -- A rare word of the scenario rules out an answer (L11), so a distractor too.
            when sharing_words.cui_id is not null then 'rare_word'
            when conflicts.cui_id is not null then 'like_answer'
        end as reason
    from plausible
    inner join templates
        on plausible.template_number = templates.template_number
    left join critical
        on plausible.template_number = critical.template_number
        and plausible.cui_id = critical.cui_id
    left join excluded
        on templates.person_group = excluded.person_group
        and plausible.cui_id = excluded.cui_id
    left join absurd
        on plausible.template_number = absurd.template_number
        and plausible.cui_id = absurd.cui_id
    left join sharing_words
        on plausible.template_number = sharing_words.template_number
        and plausible.cui_id = sharing_words.cui_id
    left join conflicts
        on templates.pool_number = conflicts.pool_number
        and templates.answer_cui_id = conflicts.cui_id
        and plausible.cui_id = conflicts.other_cui_id

)

select * from judged
