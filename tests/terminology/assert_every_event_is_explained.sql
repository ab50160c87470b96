-- An event has a first concept, or one of the listed reasons; never both, never neither.
with events as (

    select * from {{ ref('fct_visit_events') }}

),

first_concepts as (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1

),

mapping_reasons as (

    select * from {{ ref('mapping_reasons') }}

)

select
    events.source,
    events.event_type,
    events.code_system,
    events.normalized_code,
    first_concepts.cui,
    first_concepts.reason,
from events
left join first_concepts
    on events.event_key = first_concepts.event_key
left join mapping_reasons
    on first_concepts.reason = mapping_reasons.reason
where
    first_concepts.event_key is null
    or (first_concepts.cui_id is null) = (mapping_reasons.reason is null)
    or (first_concepts.cui_id is not null and first_concepts.reason is not null)
