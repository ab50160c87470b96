{{ config(tags=['portable']) }}

with

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

-- The object of a prognosis belongs to the target visit, everything else to the visit itself.
named_visits as (

    select
        triple_id,
        subject_event_key as event_key,
        visit_key
    from triples

    union all

    select
        triple_id,
        object_event_key as event_key,
        coalesce(target_visit_key, visit_key) as visit_key
    from triples

    union all

    select
        triple_events.triple_id,
        triple_events.event_key,
        triples.visit_key
    from triple_events
    inner join triples
        on triple_events.triple_id = triples.triple_id
    where triple_events.role = 'context'

),

-- All ends are looked up at once: the events are many.
ungrounded as (

    select distinct named_visits.triple_id
    from named_visits
    left join visit_events
        on named_visits.event_key = visit_events.event_key
    where visit_events.visit_key is distinct from named_visits.visit_key

),

donor_triples as (

    select distinct triple_proposals.triple_id
    from triple_proposals
    inner join ungrounded
        on triple_proposals.triple_id = ungrounded.triple_id
    where triple_proposals.generator = '{{ var("null_generator") }}'

)

select
    ungrounded.triple_id,
    case when donor_triples.triple_id is not null then 'shuffled_donor' else 'not_grounded' end
        as reason_code
from ungrounded
left join donor_triples
    on ungrounded.triple_id = donor_triples.triple_id
