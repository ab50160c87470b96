-- The events of a triple. One row per triple, role and position.
with

triples as not materialized (

    select * from {{ ref('fct_triples') }}

),

context_events as (

    select * from {{ ref('int_triple_context_events') }}

),

triple_events as (

    select
        triple_id,
        'subject' as role,
        1 as position,
        subject_event_key as event_key
    from triples
    union all
    select
        triple_id,
        'object' as role,
        1 as position,
        object_event_key as event_key
    from triples
    union all
    select
        triple_id,
        'context' as role,
        position,
        event_key
    from context_events

)

select
    triple_id,
    role,
    position,
    event_key
from triple_events
