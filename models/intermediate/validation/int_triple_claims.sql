{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

-- A part of a combination or of a joint title is not what was coded.
own_concepts as (

    select
        event_key,
        cui_id,
        rank
    from event_concepts
    where cui_id is not null
        and mapping_level not in ('part', 'none')

),

-- Ranks are compared after the join: triples name few of all events.
pairs as (

    select
        triples.triple_id,
        subjects.cui_id as subject_cui_id,
        triples.relation,
        objects.cui_id as object_cui_id,
        min(subjects.rank) as subject_rank,
        min(objects.rank) as object_rank
    from triples
    inner join own_concepts as subjects
        on triples.subject_event_key = subjects.event_key
    inner join own_concepts as objects
        on triples.object_event_key = objects.event_key
    group by
        triples.triple_id,
        subjects.cui_id,
        triples.relation,
        objects.cui_id

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
