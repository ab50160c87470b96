{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_contexts as (

    select * from {{ ref('int_triple_contexts') }}

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

excludes1 as (

    select * from {{ ref('int_icd_excludes1') }}

),

treatment_harms as (

    select * from {{ ref('int_treatment_harms') }}

),

edges as (

    select * from {{ ref('int_edges') }}

),

drug_interactions as (

    select * from {{ ref('int_drug_interactions') }}

),

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

-- A drug that is one of several in a product interacts as it does alone, so here parts count.
drug_concepts as (

    select distinct
        visit_events.visit_key,
        event_concepts.event_key,
        event_concepts.cui_id,
        visit_events.is_routine
    from event_concepts
    inner join visit_events
        on event_concepts.event_key = visit_events.event_key
    where event_concepts.cui_id is not null
        and event_concepts.mapping_level <> 'none'
        and visit_events.event_type = 'medication'

),

severe_pairs as (

    select
        triples.triple_id,
        triples.visit_key,
        answers.event_key,
        answers.cui_id as answer_cui_id,
        drug_interactions.cui_id as context_cui_id,
        drug_interactions.n_rows
    from triples
    inner join drug_concepts as answers
        on triples.object_event_key = answers.event_key
    inner join drug_interactions
        on answers.cui_id = drug_interactions.other_cui_id
    where drug_interactions.severity = 'severe'

),

-- The context of a treatment shows diagnoses only, so the other drugs of the visit are read here;
-- what every patient gets by an order set says nothing about a choice.
interaction_conflicts as (

    select
        severe_pairs.triple_id,
        'severe_interaction' as rule,
        contexts.event_key as context_event_key,
        severe_pairs.context_cui_id,
        severe_pairs.answer_cui_id,
        severe_pairs.n_rows,
        0 as n_pmids
    from severe_pairs
    inner join drug_concepts as contexts
        on severe_pairs.visit_key = contexts.visit_key
        and severe_pairs.context_cui_id = contexts.cui_id
        and severe_pairs.event_key <> contexts.event_key
    where not contexts.is_routine

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

select
    triple_id,
    rule,
    context_event_key,
    context_cui_id,
    answer_cui_id,
    cast(n_rows as integer) as n_rows,
    cast(n_pmids as integer) as n_pmids
from concept_conflicts

union all

select
    triple_id,
    rule,
    context_event_key,
    context_cui_id,
    answer_cui_id,
    cast(n_rows as integer) as n_rows,
    cast(n_pmids as integer) as n_pmids
from interaction_conflicts

union all

select
    triple_id,
    rule,
    context_event_key,
    context_cui_id,
    answer_cui_id,
    cast(n_rows as integer) as n_rows,
    cast(n_pmids as integer) as n_pmids
from code_conflicts
