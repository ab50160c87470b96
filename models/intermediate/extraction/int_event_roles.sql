-- Which part a visit event may play in extraction, decided once. One row per event that may play
-- any. A subject of a task is also what its context is drawn from.
with

events as (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

answers as (

    select event_key from {{ ref('int_answer_events') }} where eligible

),

concepts as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where rank = 1
        and cui_id is not null
        and mapping_level not in ('part', 'none')

),

described as (

    select
        events.event_key,
        events.visit_key,
        events.source,
        events.event_type,
        concepts.cui_id,
        case
            when events.event_type = 'diagnosis'
                then concat(
                    events.code_system, ':',
                    {{ icd_category('events.code_system', 'events.normalized_code') }}
                )
        end as icd_category,
        answers.event_key is not null as is_answer,
        coalesce(events.is_status_code, false) as is_status_code,
        coalesce(events.is_hindsight, false) as is_hindsight,
        coalesce(events.is_routine, false) as is_routine,
        coalesce(events.procedure_role, '') = 'therapeutic' as is_therapeutic,
        -- An order dated after the discharge is no treatment of this visit.
        coalesce(
            cast(events.first_at as date) > cast(visits.discharged_at as date), false
        ) as is_after_discharge
    from events
    inner join visits
        on events.visit_key = visits.visit_key
    left join concepts
        on events.event_key = concepts.event_key
    left join answers
        on events.event_key = answers.event_key

),

roles_decided as (

    select
        event_key,
        visit_key,
        source,
        event_type,
        cui_id,
        icd_category,
        event_type = 'diagnosis' and not is_status_code as is_dx_event,
        event_type = 'diagnosis' and not is_status_code and not is_hindsight as is_tx_subject,
        not is_after_discharge and (
            (event_type = 'medication' and is_answer)
            or (event_type = 'procedure' and is_therapeutic)
        ) as is_tx_object,
        (event_type = 'diagnosis' and not is_status_code)
        or (not is_after_discharge and (
            (event_type = 'medication' and cui_id is not null and not is_routine)
            or (event_type = 'procedure' and is_therapeutic)
        )) as is_px_subject
    from described

)

select * from roles_decided
where is_dx_event or is_tx_object or is_px_subject
