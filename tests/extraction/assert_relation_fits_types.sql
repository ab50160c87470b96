-- A triple's relation is one that the seed allows for its task between these event types; neither
-- end is a status code, and subject and object share no concept.
with

triples as (

    select * from {{ ref('fct_triples') }}

),

events as (

    select
        event_key,
        event_type,
        is_status_code
    from {{ ref('fct_visit_events') }}

),

relations as (

    select distinct
        task,
        relation,
        subject_type,
        object_type
    from {{ ref('relations') }}

),

typed as (

    select
        triples.triple_id,
        triples.relation,
        triples.subject_cui,
        triples.object_cui,
        subjects.event_type as subject_type,
        objects.event_type as object_type,
        relations.relation as allowed_relation,
        coalesce(subjects.is_status_code, false)
        or coalesce(objects.is_status_code, false) as has_status_code
    from triples
    left join events as subjects
        on triples.subject_event_key = subjects.event_key
    left join events as objects
        on triples.object_event_key = objects.event_key
    left join relations
        on triples.task = relations.task
        and triples.relation = relations.relation
        and subjects.event_type = relations.subject_type
        and objects.event_type = relations.object_type

)

select *
from typed
where allowed_relation is null
    or has_status_code
    or subject_cui = object_cui
