-- The null of the checks: a visit's subjects paired with the objects of another patient's visit.
with

objects as (

    select * from {{ ref('int_shuffled_objects') }}

),

task_events as (

    select * from {{ ref('int_task_events') }}

),

relations as (

    select * from {{ ref('relations') }}

),

subjects as (

    select
        task_events.list_number,
        task_events.event_key,
        task_events.event_type
    from task_events
    semi join objects
        on task_events.list_number = objects.list_number
    where task_events.role_allowed in ('subject', 'both')
    qualify row_number() over (
        partition by task_events.list_number order by task_events.event_key
    ) <= {{ var('shuffled_per_visit') }}

),

pairs as (

    select
        objects.source,
        relations.task,
        objects.list_number,
        objects.visit_key,
        objects.target_visit_key,
        subjects.event_key as subject_event_key,
        relations.relation,
        objects.event_key as object_event_key
    from subjects
    inner join objects
        on subjects.list_number = objects.list_number
    inner join relations
        on objects.prompt_task = relations.prompt_task
        and subjects.event_type = relations.subject_type
        and objects.event_type = relations.object_type

),

capped as (

    select *
    from pairs
    qualify row_number() over (
        partition by list_number
        order by
            {{ key(['visit_key', 'subject_event_key', 'relation', 'object_event_key']) }},
            subject_event_key, relation, object_event_key
    ) <= {{ var('shuffled_per_visit') }}

),

proposals as (

    select
        'shuffled_visits' as generator,
        cast(null as varchar) as request_key,
        source,
        task,
        visit_key,
        target_visit_key,
        subject_event_key,
        relation,
        object_event_key,
        cast(null as varchar) as why,
        true as donor
    from capped

)

select * from proposals
