with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_contexts as not materialized (

    select * from {{ ref('int_triple_contexts') }}

),

visit_events as not materialized (

    select * from {{ ref('fct_visit_events') }}

),

event_concepts as not materialized (

    select * from {{ ref('brg_event_concepts') }}

),

truth_conflicts as (

    select * from {{ ref('stg_truth__conflicts') }}

),

own_concepts as (

    select
        event_key,
        cui
    from event_concepts
    where cui_id is not null
        and mapping_level not in ('part', 'none')

),

by_concept as (

    select
        triple_contexts.triple_id,
        truth_conflicts.rule
    from triple_contexts
    inner join own_concepts as contexts
        on triple_contexts.context_event_key = contexts.event_key
    inner join own_concepts as answers
        on triple_contexts.object_event_key = answers.event_key
    inner join truth_conflicts
        on contexts.cui = truth_conflicts.context_cui
        and answers.cui = truth_conflicts.answer_cui
    where truth_conflicts.context_code is null
        and truth_conflicts.rule <> 'severe_interaction'

),

-- Interactions are planted between single drugs: every other drug of the visit is context, a part
-- of a combination like the whole, but not what an order set gives to everyone.
drugs as (

    select distinct
        visit_events.visit_key,
        visit_events.event_key,
        visit_events.is_routine,
        event_concepts.cui
    from visit_events
    inner join event_concepts
        on visit_events.event_key = event_concepts.event_key
    where visit_events.event_type = 'medication'
        and event_concepts.cui_id is not null

),

by_interaction as (

    select
        triples.triple_id,
        truth_conflicts.rule
    from triples
    inner join drugs as answers
        on triples.object_event_key = answers.event_key
    inner join truth_conflicts
        on answers.cui = truth_conflicts.answer_cui
    inner join drugs as contexts
        on truth_conflicts.context_cui = contexts.cui
        and triples.visit_key = contexts.visit_key
        and triples.object_event_key <> contexts.event_key
    where truth_conflicts.rule = 'severe_interaction'
        and not contexts.is_routine

),

by_code as (

    select
        triple_contexts.triple_id,
        truth_conflicts.rule
    from triple_contexts
    inner join visit_events as contexts
        on triple_contexts.context_event_key = contexts.event_key
    inner join visit_events as answers
        on triple_contexts.object_event_key = answers.event_key
    inner join truth_conflicts
        on contexts.code_system = truth_conflicts.context_code_system
        and contexts.normalized_code = truth_conflicts.context_code
        and answers.code_system = truth_conflicts.answer_code_system
        and answers.normalized_code = truth_conflicts.answer_code

),

conflicts as (

    select * from by_concept
    union
    select * from by_interaction
    union
    select * from by_code

)

select * from conflicts
