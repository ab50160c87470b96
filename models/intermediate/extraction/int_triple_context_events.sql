-- Context of a triple: up to max_context_events other events of the visit (px: of the index visit),
-- in an md5 order that only the triple decides, so completions never change an item. Left out are
-- the subject and the object, events that share a concept with the subject, and whatever gives the
-- object away. One row per triple and position.
with

triples as (

    select * from {{ ref('fct_triples') }}

),

pool_events as (

    select * from {{ ref('int_context_pool_events') }}

),

telling_events as (

    select * from {{ ref('int_context_telling_events') }}

),

-- Lists of a pool's events, so that the candidates of all triples never lie side by side.
pools as (

    select
        pool_number,
        task,
        visit_key,
        list({'event_key': event_key, 'cui_id': cui_id} order by event_key) as events
    from pool_events
    group by
        pool_number,
        task,
        visit_key

),

telling as (

    select
        pool_number,
        object_event_key,
        list(event_key order by event_key) as event_keys
    from telling_events
    group by
        pool_number,
        object_event_key

),

candidates as (

    select
        triples.triple_id,
        list_filter(
            pools.events,
            lambda one: one.event_key <> triples.subject_event_key
            and one.event_key <> triples.object_event_key
            and {{ cui_text('one.cui_id') }} is distinct from triples.subject_cui
            and not coalesce(list_contains(telling.event_keys, one.event_key), false)
        ) as events
    from triples
    inner join pools
        on triples.task = pools.task
        and triples.visit_key = pools.visit_key
    left join telling
        on pools.pool_number = telling.pool_number
        and triples.object_event_key = telling.object_event_key

),

chosen as (

    select
        triple_id,
        list_sort(list_transform(
            events,
            lambda one: {
                'order_key': {{ key(['triple_id', 'one.event_key']) }},
                'event_key': one.event_key
            }
        ))[:{{ var('max_context_events') }}] as events
    from candidates

),

triple_context_events as (

    select
        triple_id,
        unnest(range(1, len(events) + 1)) as position,
        unnest(events).event_key as event_key
    from chosen

)

select
    triple_id,
    cast(position as integer) as position,
    event_key
from triple_context_events
