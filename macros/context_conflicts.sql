{#- CTEs of the conflicts between shown context events and an answer: `concept_conflicts` by
    statements of the knowledge base, `code_conflicts` by Excludes1 notes. Reads the CTEs
    `triple_contexts` (triple_id, context_event_key, object_event_key), `visit_events`,
    `event_concepts`, `excludes1`, `treatment_harms` and `edges`. -#}
{% macro context_conflicts() -%}
-- Events are many: those that are shown or answer come first.
shown_events as (

    select
        event_key,
        event_type,
        code_system,
        normalized_code
    from visit_events
    where event_key in (
        select context_event_key from triple_contexts
        union
        select object_event_key from triple_contexts
    )

),

shown_concepts as (

    select
        shown_events.event_key,
        shown_events.event_type,
        event_concepts.cui_id
    from shown_events
    inner join event_concepts
        on shown_events.event_key = event_concepts.event_key
    where event_concepts.cui_id is not null
        and event_concepts.mapping_level not in ('part', 'none')

),

negated_pairs as (

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

pair_conflicts as (

    select
        rule,
        disease_cui_id as context_cui_id,
        treatment_cui_id as answer_cui_id,
        true as is_of_treatment,
        n_rows,
        n_pmids
    from treatment_harms

    union all

    select
        'paper_literal' as rule,
        context_cui_id,
        answer_cui_id,
        false as is_of_treatment,
        sum(n_pmids) as n_rows,
        sum(n_pmids) as n_pmids
    from negated_pairs
    group by
        context_cui_id,
        answer_cui_id

),

-- Only events of which some conflict speaks, before the many contexts meet them.
context_concepts as (

    select
        event_key,
        cui_id,
        event_type = 'diagnosis' as is_diagnosis
    from shown_concepts
    where cui_id in (select context_cui_id from pair_conflicts)

),

answer_concepts as (

    select
        event_key,
        cui_id,
        event_type in ('medication', 'procedure') as is_treatment
    from shown_concepts
    where cui_id in (select answer_cui_id from pair_conflicts)

),

concept_conflicts as (

    select
        triple_contexts.triple_id,
        pair_conflicts.rule,
        triple_contexts.context_event_key,
        context_concepts.cui_id as context_cui_id,
        answer_concepts.cui_id as answer_cui_id,
        pair_conflicts.n_rows,
        pair_conflicts.n_pmids
    from triple_contexts
    inner join context_concepts
        on triple_contexts.context_event_key = context_concepts.event_key
    inner join answer_concepts
        on triple_contexts.object_event_key = answer_concepts.event_key
    inner join pair_conflicts
        on context_concepts.cui_id = pair_conflicts.context_cui_id
        and answer_concepts.cui_id = pair_conflicts.answer_cui_id
    where not pair_conflicts.is_of_treatment
        or (context_concepts.is_diagnosis and answer_concepts.is_treatment)

),

context_codes as (

    select
        event_key,
        code_system,
        normalized_code
    from shown_events
    where normalized_code in (select code from excludes1)

),

answer_codes as (

    select
        event_key,
        code_system,
        normalized_code
    from shown_events
    where normalized_code in (select excluded_code from excludes1)

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
    inner join context_codes
        on triple_contexts.context_event_key = context_codes.event_key
    inner join answer_codes
        on triple_contexts.object_event_key = answer_codes.event_key
    inner join excludes1
        on context_codes.code_system = excludes1.code_system
        and context_codes.normalized_code = excludes1.code
        and answer_codes.code_system = excludes1.code_system
        and answer_codes.normalized_code = excludes1.excluded_code

)
{%- endmacro %}
