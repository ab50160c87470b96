{#- CTEs of the conflicts between shown context events and an answer: `concept_conflicts` by
    statements of the knowledge base, `code_conflicts` by Excludes1 notes. Reads the CTEs
    `triple_contexts` (triple_id, context_event_key, object_event_key), `visit_events`,
    `event_concepts`, `excludes1`, `treatment_harms` and `edges`. -#}
{% macro context_conflicts() -%}
own_concepts as (

    select
        event_key,
        cui_id
    from event_concepts
    where cui_id is not null
        and mapping_level not in ('part', 'none')

),

-- Context and answer of many triples are the same pair of concepts: decide once per pair.
concept_pairs as (

    select distinct
        contexts.cui_id as context_cui_id,
        answers.cui_id as answer_cui_id,
        context_events.event_type as context_type,
        answer_events.event_type as answer_type
    from triple_contexts
    inner join visit_events as context_events
        on triple_contexts.context_event_key = context_events.event_key
    inner join visit_events as answer_events
        on triple_contexts.object_event_key = answer_events.event_key
    inner join own_concepts as contexts
        on triple_contexts.context_event_key = contexts.event_key
    inner join own_concepts as answers
        on triple_contexts.object_event_key = answers.event_key

),

treatment_pairs as (

    select
        context_cui_id,
        answer_cui_id
    from concept_pairs
    where context_type = 'diagnosis'
        and answer_type in ('medication', 'procedure')

),

harmful as (

    select
        treatment_harms.rule,
        treatment_pairs.context_cui_id,
        treatment_pairs.answer_cui_id,
        treatment_harms.n_rows,
        treatment_harms.n_pmids
    from treatment_pairs
    inner join treatment_harms
        on treatment_pairs.answer_cui_id = treatment_harms.treatment_cui_id
        and treatment_pairs.context_cui_id = treatment_harms.disease_cui_id

),

negated_edges as (

    select
        subject_cui_id as context_cui_id,
        object_cui_id as answer_cui_id,
        n_pmids
    from edges
    where is_negated

    union all

    select
        object_cui_id as context_cui_id,
        subject_cui_id as answer_cui_id,
        n_pmids
    from edges
    where is_negated

),

distinct_pairs as (

    select distinct
        context_cui_id,
        answer_cui_id
    from concept_pairs

),

paper_literal as (

    select
        'paper_literal' as rule,
        distinct_pairs.context_cui_id,
        distinct_pairs.answer_cui_id,
        sum(negated_edges.n_pmids) as n_rows,
        sum(negated_edges.n_pmids) as n_pmids
    from distinct_pairs
    inner join negated_edges
        on distinct_pairs.context_cui_id = negated_edges.context_cui_id
        and distinct_pairs.answer_cui_id = negated_edges.answer_cui_id
    group by
        distinct_pairs.context_cui_id,
        distinct_pairs.answer_cui_id

),

pair_conflicts as (

    select * from harmful
    union all
    select * from paper_literal

),

concept_conflicts as (

    select
        triple_contexts.triple_id,
        pair_conflicts.rule,
        triple_contexts.context_event_key,
        contexts.cui_id as context_cui_id,
        answers.cui_id as answer_cui_id,
        pair_conflicts.n_rows,
        pair_conflicts.n_pmids
    from triple_contexts
    inner join own_concepts as contexts
        on triple_contexts.context_event_key = contexts.event_key
    inner join own_concepts as answers
        on triple_contexts.object_event_key = answers.event_key
    inner join pair_conflicts
        on contexts.cui_id = pair_conflicts.context_cui_id
        and answers.cui_id = pair_conflicts.answer_cui_id

),

code_conflicts as (

    select
        triple_contexts.triple_id,
        'excludes1' as rule,
        triple_contexts.context_event_key,
        cast(null as integer) as context_cui_id,
        cast(null as integer) as answer_cui_id,
        1 as n_rows,
        0 as n_pmids
    from triple_contexts
    inner join visit_events as context_events
        on triple_contexts.context_event_key = context_events.event_key
    inner join visit_events as answer_events
        on triple_contexts.object_event_key = answer_events.event_key
    inner join excludes1
        on context_events.code_system = excludes1.code_system
        and context_events.normalized_code = excludes1.code
        and answer_events.code_system = excludes1.code_system
        and answer_events.normalized_code = excludes1.excluded_code

)
{%- endmacro %}
