-- The numbered lists of the extraction prompts: one row per visit (pair), prompt task and event,
-- for visits that have at least one subject and one other event as object. Of each type and role so
-- many are offered as extraction_roles allows, in md5 order; the others stay here as not offered.
with

event_roles as not materialized (

    select * from {{ ref('int_event_roles') }}

),

extraction_roles as (

    select * from {{ ref('extraction_roles') }}

),

pairs as (

    select * from {{ ref('int_prognosis_pairs') }}

),

newly_coded as (

    select * from {{ ref('int_newly_coded_diagnoses') }} where is_newly_coded

),

events_of_one_visit as (

    select
        event_roles.visit_key,
        cast(null as varchar) as target_visit_key,
        extraction_roles.prompt_task,
        extraction_roles.role,
        extraction_roles.event_type,
        event_roles.event_key,
        extraction_roles.list_order,
        extraction_roles.max_offered
    from event_roles
    inner join extraction_roles
        on event_roles.event_type = extraction_roles.event_type
    where (extraction_roles.task = 'dx' and event_roles.is_dx_event)
        or (
            extraction_roles.task = 'tx' and extraction_roles.role = 'subject'
            and event_roles.is_tx_subject
        )
        or (
            extraction_roles.task = 'tx' and extraction_roles.role = 'object'
            and event_roles.is_tx_object
        )

),

subjects_of_pairs as (

    select
        pairs.visit_key,
        pairs.target_visit_key,
        extraction_roles.prompt_task,
        extraction_roles.role,
        extraction_roles.event_type,
        event_roles.event_key,
        extraction_roles.list_order,
        extraction_roles.max_offered
    from pairs
    inner join event_roles
        on pairs.visit_key = event_roles.visit_key
    inner join extraction_roles
        on event_roles.event_type = extraction_roles.event_type
    where extraction_roles.task = 'px'
        and extraction_roles.role = 'subject'
        and event_roles.is_px_subject

),

objects_of_pairs as (

    select
        newly_coded.index_visit_key as visit_key,
        newly_coded.visit_key as target_visit_key,
        extraction_roles.prompt_task,
        extraction_roles.role,
        extraction_roles.event_type,
        newly_coded.event_key,
        extraction_roles.list_order,
        extraction_roles.max_offered
    from newly_coded
    inner join extraction_roles
        on extraction_roles.event_type = 'diagnosis'
    where extraction_roles.task = 'px'
        and extraction_roles.role = 'object'

),

candidates as not materialized (

    select * from events_of_one_visit
    union all
    select * from subjects_of_pairs
    union all
    select * from objects_of_pairs

),

-- Numbered, so that what follows joins and sorts on one integer.
askable_lists as (

    select
        visit_key,
        target_visit_key,
        prompt_task,
        cast(row_number() over (
            order by visit_key, target_visit_key, prompt_task
        ) as integer) as list_number
    from candidates
    group by visit_key, target_visit_key, prompt_task
    having count(*) >= 2
        and bool_or(role in ('subject', 'both'))
        and bool_or(role in ('object', 'both'))

),

-- The sorts carry what they need alone; a place of a list is that of one role and event type.
ranked as (

    select
        askable_lists.list_number,
        candidates.list_order,
        candidates.event_key,
        -- event_key is an md5 already: a fixed order that says nothing about the event.
        row_number() over (
            partition by askable_lists.list_number, candidates.list_order
            order by candidates.event_key
        ) <= least(candidates.max_offered, {{ var('max_offered_events') }}) as is_offered
    from candidates
    inner join askable_lists
        on candidates.visit_key = askable_lists.visit_key
        and candidates.target_visit_key is not distinct from askable_lists.target_visit_key
        and candidates.prompt_task = askable_lists.prompt_task

),

positioned as (

    select
        *,
        cast(row_number() over (
            partition by list_number
            order by is_offered desc, list_order, event_key
        ) as integer) as event_position
    from ranked

),

numbered as (

    select
        positioned.list_number,
        askable_lists.visit_key,
        askable_lists.target_visit_key,
        askable_lists.prompt_task,
        positioned.event_position,
        positioned.event_key,
        extraction_roles.event_type,
        extraction_roles.role as role_allowed,
        positioned.is_offered,
        case when positioned.is_offered then positioned.event_position end as event_number
    from positioned
    inner join askable_lists
        on positioned.list_number = askable_lists.list_number
    inner join extraction_roles
        on askable_lists.prompt_task = extraction_roles.prompt_task
        and positioned.list_order = extraction_roles.list_order

)

select * from numbered
