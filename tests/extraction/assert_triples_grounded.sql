-- Subject and context are events of the visit; the object is one of the visit (px, of the target
-- visit) unless only shuffled_visits proposed the triple, and then it is another patient's.
with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

),

events as (

    select
        event_key,
        visit_key
    from {{ ref('fct_visit_events') }}

),

visits as (

    select
        visit_key,
        patient_key
    from {{ ref('dim_visits') }}

),

donors as (

    select
        triple_id,
        bool_and(generator = 'shuffled_visits') as is_donor
    from {{ ref('fct_triple_proposals') }}
    group by triple_id

),

placed as (

    select
        triples.triple_id,
        triples.visit_key,
        triples.target_visit_key,
        triples.patient_key,
        triple_events.role,
        triple_events.event_key,
        events.visit_key as event_visit_key,
        visits.patient_key as event_patient_key,
        donors.is_donor
    from triples
    left join triple_events
        on triples.triple_id = triple_events.triple_id
    left join events
        on triple_events.event_key = events.event_key
    left join visits
        on events.visit_key = visits.visit_key
    left join donors
        on triples.triple_id = donors.triple_id

)

select *
from placed
where is_donor is null
    or event_visit_key is null
    or (role in ('subject', 'context') and event_visit_key <> visit_key)
    or (
        role = 'object' and not is_donor
        and event_visit_key <> coalesce(target_visit_key, visit_key)
    )
    or (role = 'object' and is_donor and event_patient_key = patient_key)
