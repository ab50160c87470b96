-- Events before = events after, per source and kind: the rows that have a visit come out of the
-- mapping once each, and an event has one first concept however many concepts its code has.
with placed as (

    select
        source,
        event_type,
        cast(sum(n_source_rows) as bigint) as n_rows,
    from {{ ref('int_events_placed') }}
    group by all

),

mapped as (

    select
        source,
        event_type,
        cast(sum(n_source_rows) as bigint) as n_rows,
    from {{ ref('int_events_mapped') }}
    group by all

),

kept as (

    select
        source,
        event_type,
        count(distinct (visit_key, code_system, normalized_code)) as n_events,
    from {{ ref('int_events_mapped') }}
    where set_aside_reason is null
    group by all

),

events as (

    select
        source,
        event_type,
        count(*) as n_events,
    from {{ ref('fct_visit_events') }}
    group by all

),

explained as (

    select
        events.source,
        events.event_type,
        count(*) as n_events,
    from {{ ref('brg_event_concepts') }} as first_concepts
    inner join {{ ref('fct_visit_events') }} as events
        on first_concepts.event_key = events.event_key
    where first_concepts.rank = 1
    group by all

)

select
    placed.source,
    placed.event_type,
    placed.n_rows as n_rows_before,
    mapped.n_rows as n_rows_after,
    kept.n_events as n_events_before,
    events.n_events as n_events_after,
    explained.n_events as n_events_explained,
from placed
left join mapped
    on
        placed.source = mapped.source
        and placed.event_type = mapped.event_type
left join kept
    on
        placed.source = kept.source
        and placed.event_type = kept.event_type
left join events
    on
        placed.source = events.source
        and placed.event_type = events.event_type
left join explained
    on
        placed.source = explained.source
        and placed.event_type = explained.event_type
where
    mapped.n_rows is distinct from placed.n_rows
    or events.n_events is distinct from kept.n_events
    or explained.n_events is distinct from events.n_events
