-- Payload of the extraction requests, one row per prompt_key. Visits that render alike share a
-- prompt: the first by visit_key stands for all (n_visits counts them), as their items would render
-- alike too. What goes beyond max_prompts_per_task per source and prompt task is not rendered.
with

task_events as not materialized (

    select * from {{ ref('int_task_events') }} where is_offered

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select
        event_key,
        label
    from {{ ref('fct_visit_events') }}

),

extraction_roles as (

    select * from {{ ref('extraction_roles') }}

),

relations as (

    select * from {{ ref('relations') }}

),

prompt_texts as (

    select * from {{ ref('prompt_texts') }}

),

prompt_tasks as (

    select distinct
        prompt_task,
        task
    from extraction_roles

),

relation_lines as (

    select distinct
        prompt_task,
        list_order,
        relation,
        concat('- ', relation, ': ', wording) as line
    from relations

),

system_parts as (

    select
        prompt_tasks.prompt_task,
        prompt_texts.list_order,
        prompt_texts.text
    from prompt_tasks
    inner join prompt_texts
        on prompt_texts.prompt_task in (prompt_tasks.prompt_task, 'all')
    union all
    select
        prompt_task,
        3 as list_order,
        concat(
            'Relations:', chr(10), string_agg(line, chr(10) order by list_order, relation)
        ) as text
    from relation_lines
    group by prompt_task

),

system_messages as (

    select
        prompt_task,
        replace(replace(replace(
            string_agg(text, chr(10) order by list_order),
            '{horizon_days}', '{{ var("px_horizon_days") }}'),
            '{max_triples}', '{{ var("max_triples_per_prompt") }}'),
            '{context_events}', '{{ var("context_events") }}') as system_message
    from system_parts
    group by prompt_task

),

relation_enums as (

    select
        prompt_task,
        to_json(list(relation order by list_order, relation)) as relation_enum
    from relation_lines
    group by prompt_task

),

askable_visits as (

    select distinct
        task_events.list_number,
        task_events.visit_key,
        task_events.target_visit_key,
        task_events.prompt_task,
        visits.source
    from task_events
    inner join visits
        on task_events.visit_key = visits.visit_key

),

sampled_visits as (

    select *
    from askable_visits
    qualify row_number() over (
        partition by source, prompt_task
        order by
            {{ key(['visit_key', 'prompt_task', "'prompt'"]) }},
            visit_key
    ) <= {{ var('max_prompts_per_task') }}

),

sections as (

    select
        task_events.list_number,
        extraction_roles.list_order,
        concat(
            extraction_roles.heading, ':', chr(10),
            string_agg(
                concat(
                    task_events.event_number, '. ', events.label,
                    ' [', task_events.event_type, ']'
                ),
                chr(10) order by task_events.event_number
            )
        ) as section,
        list(task_events.event_number order by task_events.event_number)
            filter (where task_events.role_allowed in ('subject', 'both')) as subject_numbers,
        list(task_events.event_number order by task_events.event_number)
            filter (where task_events.role_allowed in ('object', 'both')) as object_numbers,
        max(task_events.event_number) as last_number
    from task_events
    inner join sampled_visits
        on task_events.list_number = sampled_visits.list_number
    inner join events
        on task_events.event_key = events.event_key
    inner join extraction_roles
        on task_events.prompt_task = extraction_roles.prompt_task
        and task_events.role_allowed = extraction_roles.role
        and task_events.event_type = extraction_roles.event_type
    group by
        task_events.list_number,
        extraction_roles.list_order,
        extraction_roles.heading

),

lists as (

    select
        list_number,
        string_agg(section, chr(10) order by list_order) as user_message,
        to_json(flatten(list(subject_numbers order by list_order)
            filter (where subject_numbers is not null))) as subject_enum,
        to_json(flatten(list(object_numbers order by list_order)
            filter (where object_numbers is not null))) as object_enum,
        to_json(generate_series(1, max(last_number))) as context_enum
    from sections
    group by list_number

),

rendered as (

    select
        sampled_visits.source,
        sampled_visits.prompt_task,
        prompt_tasks.task,
        sampled_visits.visit_key,
        sampled_visits.target_visit_key,
        cast(json_array(
            json_object('role', 'system', 'content', system_messages.system_message),
            json_object('role', 'user', 'content', lists.user_message)
        ) as varchar) as messages,
        cast(json_object(
            'type', 'object',
            'properties', json_object('triples', json_object(
                'type', 'array',
                'maxItems', {{ var('max_triples_per_prompt') }},
                'items', json_object(
                    'type', 'object',
                    'properties', json_object(
                        'subject', json_object('enum', lists.subject_enum),
                        'relation', json_object('enum', relation_enums.relation_enum),
                        'object', json_object('enum', lists.object_enum),
                        'context', json_object(
                            'type', 'array',
                            'maxItems', {{ var('context_events') }},
                            'items', json_object('enum', lists.context_enum)
                        ),
                        'why', json_object(
                            'type', 'string', 'maxLength', {{ var('max_why_length') }}
                        )
                    ),
                    'required',
                    json_array('subject', 'relation', 'object', 'context', 'why'),
                    'additionalProperties', false
                )
            )),
            'required', json_array('triples'),
            'additionalProperties', false
        ) as varchar) as json_schema
    from lists
    inner join sampled_visits
        on lists.list_number = sampled_visits.list_number
    inner join prompt_tasks
        on sampled_visits.prompt_task = prompt_tasks.prompt_task
    inner join system_messages
        on sampled_visits.prompt_task = system_messages.prompt_task
    inner join relation_enums
        on sampled_visits.prompt_task = relation_enums.prompt_task

),

keyed as (

    select
        {{ key(['messages', 'json_schema']) }} as prompt_key,
        *
    from rendered

),

extraction_prompts as (

    select
        prompt_key,
        source,
        prompt_task,
        task,
        visit_key,
        target_visit_key,
        messages,
        json_schema,
        cast(count(*) over (partition by prompt_key) as integer) as n_visits
    from keyed
    qualify row_number() over (
        partition by prompt_key order by visit_key, target_visit_key
    ) = 1

)

select * from extraction_prompts
