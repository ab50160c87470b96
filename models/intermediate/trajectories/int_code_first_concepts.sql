-- One row per code of an event x its first concept.
with

events as (

    select * from {{ ref('fct_visit_events') }}

),

first_concepts as (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1
        and cui_id is not null

),

found as (

    select distinct
        events.code_system,
        events.normalized_code,
        first_concepts.cui_id
    from events
    inner join first_concepts
        on events.event_key = first_concepts.event_key

)

select * from found
