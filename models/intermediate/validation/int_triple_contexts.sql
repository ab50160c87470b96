{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

)

select
    triples.triple_id,
    triple_events.position,
    triple_events.event_key as context_event_key,
    triples.object_event_key
from triples
inner join triple_events
    on triples.triple_id = triple_events.triple_id
where triple_events.role = 'context'
    and triple_events.position <= {{ var('context_events') }}
