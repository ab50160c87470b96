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

-- Imported again: what is read twice in one statement is first copied whole.
medications as (

    select
        visit_key,
        event_key,
        is_routine
    from {{ ref('fct_visit_events') }}
    where event_type = 'medication'

),

ingredients as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where mapping_level <> 'none'

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
        medications.visit_key,
        ingredients.event_key,
        ingredients.cui_id,
        medications.is_routine
    from ingredients
    inner join severe_drugs
        on ingredients.cui_id = severe_drugs.cui_id
    inner join medications
        on ingredients.event_key = medications.event_key

),

drug_answers as (

    select distinct
        triples.visit_key,
        drug_concepts.event_key,
        drug_concepts.cui_id
    from triples
    inner join drug_concepts
        on triples.object_event_key = drug_concepts.event_key

),

-- The context of a treatment shows diagnoses only, so the other drugs of the visit are read here;
-- what every patient gets by an order set says nothing about a choice.
severe_pairs as (

    select
        drug_answers.visit_key,
        drug_answers.event_key,
        drug_answers.cui_id as answer_cui_id,
        contexts.event_key as context_event_key,
        contexts.cui_id as context_cui_id,
        severe_interactions.n_rows
    from drug_answers
    inner join drug_concepts as contexts
        on drug_answers.visit_key = contexts.visit_key
        and drug_answers.event_key <> contexts.event_key
    inner join severe_interactions
        on contexts.cui_id = severe_interactions.cui_id
        and drug_answers.cui_id = severe_interactions.other_cui_id
    where not contexts.is_routine

),

interaction_conflicts as (

    select
        triples.triple_id,
        'severe_interaction' as rule,
        severe_pairs.context_event_key,
        severe_pairs.context_cui_id,
        severe_pairs.answer_cui_id,
        severe_pairs.n_rows,
        0 as n_pmids
    from triples
    inner join severe_pairs
        on triples.visit_key = severe_pairs.visit_key
        and triples.object_event_key = severe_pairs.event_key

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
