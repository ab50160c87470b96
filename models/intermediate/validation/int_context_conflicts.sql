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

{{ context_conflicts() }},

severe_interactions as (

    select * from drug_interactions
    where severity = 'severe'

),

severe_drugs as (

    select cui_id from severe_interactions
    union
    select other_cui_id as cui_id from severe_interactions

),

-- A drug that is one of several in a product interacts as it does alone, so here parts count.
drug_concepts as (

    select distinct
        visit_events.visit_key,
        event_concepts.event_key,
        event_concepts.cui_id,
        visit_events.is_routine
    from event_concepts
    inner join severe_drugs
        on event_concepts.cui_id = severe_drugs.cui_id
    inner join visit_events
        on event_concepts.event_key = visit_events.event_key
    where event_concepts.mapping_level <> 'none'
        and visit_events.event_type = 'medication'

),

severe_pairs as (

    select
        triples.triple_id,
        triples.visit_key,
        answers.event_key,
        answers.cui_id as answer_cui_id,
        severe_interactions.cui_id as context_cui_id,
        severe_interactions.n_rows
    from triples
    inner join drug_concepts as answers
        on triples.object_event_key = answers.event_key
    inner join severe_interactions
        on answers.cui_id = severe_interactions.other_cui_id

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
