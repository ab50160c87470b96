-- Offered events are numbered 1 to n without a gap and keep to the quotas of extraction_roles.
with

task_events as (

    select * from {{ ref('int_task_events') }} where is_offered

),

extraction_roles as (

    select * from {{ ref('extraction_roles') }}

),

badly_numbered as (

    select
        visit_key,
        target_visit_key,
        prompt_task,
        'numbers' as problem
    from task_events
    group by visit_key, target_visit_key, prompt_task
    having count(*) <> count(distinct event_number)
        or min(event_number) <> 1
        or max(event_number) <> count(*)

),

too_many as (

    select
        task_events.visit_key,
        task_events.target_visit_key,
        task_events.prompt_task,
        'quota' as problem
    from task_events
    left join extraction_roles
        on task_events.prompt_task = extraction_roles.prompt_task
        and task_events.role_allowed = extraction_roles.role
        and task_events.event_type = extraction_roles.event_type
    group by
        task_events.visit_key,
        task_events.target_visit_key,
        task_events.prompt_task,
        task_events.role_allowed,
        task_events.event_type,
        extraction_roles.max_offered
    -- A role that the seed does not give has a quota of none; least() passes over nulls.
    having count(*) > least(
        coalesce(extraction_roles.max_offered, 0), {{ var('max_offered_events') }}
    )

)

select * from badly_numbered
union all
select * from too_many
