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

-- Sets of answers are bits, as templates times answers are many. A pool has no more answers than
-- templates.
places as (

    select
        pool_number,
        event_type,
        cui_id,
        cast(row_number() over (partition by pool_number order by cui_id) - 1 as integer) as place
    from vocabulary

),

plausible_sets as (

    select
        scenario_concepts.template_number,
        scenario_concepts.pool_number,
        bitstring_agg(places.place, 0, {{ var('max_pool_templates') - 1 }}) as answers
    from scenario_concepts
    inner join cooccurrence
        on scenario_concepts.cui_id = cooccurrence.scenario_cui_id
    inner join places
        on scenario_concepts.pool_number = places.pool_number
        and cooccurrence.cui_id = places.cui_id
        and cooccurrence.event_type = places.event_type
    group by
        scenario_concepts.template_number,
        scenario_concepts.pool_number

),

linked_sets as (

    select
        scenario_concepts.template_number,
        bitstring_agg(places.place, 0, {{ var('max_pool_templates') - 1 }}) as answers
    from scenario_concepts
    inner join linked
        on scenario_concepts.task = linked.task
        and scenario_concepts.cui_id = linked.scenario_cui_id
    inner join places
        on scenario_concepts.pool_number = places.pool_number
        and linked.cui_id = places.cui_id
    group by scenario_concepts.template_number

),

plausible as (

    select
        plausible_sets.template_number,
        places.cui_id,
        coalesce(get_bit(linked_sets.answers, places.place) = 1, false) as is_linked
    from plausible_sets
    inner join places
        on plausible_sets.pool_number = places.pool_number
        and get_bit(plausible_sets.answers, places.place) = 1
    left join linked_sets
        on plausible_sets.template_number = linked_sets.template_number

),

judged as (

    select
        plausible.template_number,
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
