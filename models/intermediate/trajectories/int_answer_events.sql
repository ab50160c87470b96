-- Whether an event may be an answer, and if not the first reason why.
with

events as (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

first_concepts as (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1

),

reasoned as (

    select
        events.event_key,
        events.visit_key,
        visits.patient_key,
        events.event_type,
        first_concepts.cui_id,
        case
            when first_concepts.cui_id is null then 'unmapped'
            when events.event_type = 'diagnosis' and events.is_status_code then 'status_code'
            when events.is_residual_title then 'residual_title'
            when events.event_type = 'medication' and events.is_combination then 'combination'
            when events.event_type = 'medication' and events.is_routine then 'routine'
            when events.event_type = 'procedure'
                and events.procedure_role is distinct from 'therapeutic'
                then 'not_therapeutic'
        end as reason
    from events
    left join visits
        on events.visit_key = visits.visit_key
    left join first_concepts
        on events.event_key = first_concepts.event_key

)

select
    event_key,
    visit_key,
    patient_key,
    event_type,
    cui_id,
    reason is null as eligible,
    reason
from reasoned
