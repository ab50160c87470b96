{{ config(tags=['portable']) }}

with

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

visit_ids as (

    select * from {{ ref('int_visit_ids') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

-- The concepts of claims: a part of a combination is not what was coded.
own_concepts as (

    select
        event_key,
        cui_id
    from event_concepts
    where cui_id is not null
        and mapping_level not in ('part', 'none')

)

select distinct
    visit_ids.visit_id,
    own_concepts.cui_id
from visit_events
inner join visit_ids
    on visit_events.visit_key = visit_ids.visit_key
inner join own_concepts
    on visit_events.event_key = own_concepts.event_key
