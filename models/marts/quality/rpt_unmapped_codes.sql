with

events as (

    select * from {{ ref('fct_visit_events') }}

),

unmapped as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is null

)

select
    events.code_system,
    events.normalized_code,
    min(events.label) as label,
    min(unmapped.reason) as reason,
    bool_or(events.is_status_code) as is_status_code,
    count(*) as n_events,
    cast(sum(events.n_source_rows) as bigint) as n_source_rows
from events
inner join unmapped
    on events.event_key = unmapped.event_key
group by events.code_system, events.normalized_code
