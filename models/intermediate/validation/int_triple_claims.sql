{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

named_events as (

    select subject_event_key as event_key from triples
    union
    select object_event_key as event_key from triples

),

-- Triples name few of all events, so those come first. A part of a combination or of a joint title
-- is not what was coded.
own_concepts as (

    select
        event_concepts.event_key,
        event_concepts.cui_id,
        event_concepts.rank
    from event_concepts
    inner join named_events
        on event_concepts.event_key = named_events.event_key
    where event_concepts.cui_id is not null
        and event_concepts.mapping_level not in ('part', 'none')

),

pairs as (

    select
        triples.triple_id,
        subjects.cui_id as subject_cui_id,
        triples.relation,
        objects.cui_id as object_cui_id,
        subjects.rank as subject_rank,
        objects.rank as object_rank
    from triples
    inner join own_concepts as subjects
        on triples.subject_event_key = subjects.event_key
    inner join own_concepts as objects
        on triples.object_event_key = objects.event_key

)

select
    triple_id,
    {{ key([cui_text('subject_cui_id'), 'relation', cui_text('object_cui_id')]) }} as claim_key,
    subject_cui_id,
    relation,
    object_cui_id,
    subject_rank,
    object_rank
from pairs
