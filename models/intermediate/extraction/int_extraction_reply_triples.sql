-- One row per triple of a reply, its numbers turned into events of the prompt's own list (so every
-- event is grounded by construction); reject_reason is null for the triples that become proposals.
with

replies as (

    select * from {{ ref('int_extraction_replies') }} where n_triples > 0

),

prompts as (

    select * from {{ ref('int_extraction_prompts') }}

),

task_events as not materialized (

    select * from {{ ref('int_task_events') }} where is_offered

),

relations as (

    select * from {{ ref('relations') }}

),

event_concepts as not materialized (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level not in ('part', 'none')

),

-- A reply is read once, however many triples it holds: one by one it would take their square.
objects as (

    select
        request_key,
        prompt_key,
        generator,
        unnest(generate_series(1, n_triples)) as triple_position,
        unnest(cast(triples_json as json[])) as triple
    from replies

),

fields as (

    select
        request_key,
        prompt_key,
        generator,
        cast(triple_position as integer) as triple_position,
        -- A number may come as 3, "3" or "3. Hypertension".
        try_cast(regexp_extract(
            json_extract_string(triple, '$.subject'), '^\s*#?(\d{1,6})\b', 1
        ) as integer) as subject_number,
        lower(regexp_replace(
            trim(json_extract_string(triple, '$.relation')), '[\s-]+', '_', 'g'
        )) as relation,
        try_cast(regexp_extract(
            json_extract_string(triple, '$.object'), '^\s*#?(\d{1,6})\b', 1
        ) as integer) as object_number,
        nullif(trim(json_extract_string(triple, '$.why')), '') as why
    from objects

),

grounded as (

    select
        fields.request_key,
        fields.generator,
        fields.triple_position,
        prompts.source,
        prompts.task,
        prompts.prompt_task,
        prompts.visit_key,
        prompts.target_visit_key,
        fields.subject_number,
        fields.relation,
        fields.object_number,
        fields.why,
        subjects.event_key as subject_event_key,
        subjects.event_type as subject_type,
        subjects.role_allowed as subject_role,
        objects.event_key as object_event_key,
        objects.event_type as object_type,
        objects.role_allowed as object_role
    from fields
    inner join prompts
        on fields.prompt_key = prompts.prompt_key
    left join task_events as subjects
        on prompts.visit_key = subjects.visit_key
        and prompts.target_visit_key is not distinct from subjects.target_visit_key
        and prompts.prompt_task = subjects.prompt_task
        and fields.subject_number = subjects.event_number
    left join task_events as objects
        on prompts.visit_key = objects.visit_key
        and prompts.target_visit_key is not distinct from objects.target_visit_key
        and prompts.prompt_task = objects.prompt_task
        and fields.object_number = objects.event_number

),

same_concepts as (

    select distinct
        grounded.request_key,
        grounded.triple_position
    from grounded
    inner join event_concepts as subject_concepts
        on grounded.subject_event_key = subject_concepts.event_key
    inner join event_concepts as object_concepts
        on grounded.object_event_key = object_concepts.event_key
        and subject_concepts.cui_id = object_concepts.cui_id

),

allowed as (

    select distinct
        prompt_task,
        relation,
        subject_type,
        object_type
    from relations

),

judged as (

    select
        grounded.*,
        case
            when grounded.subject_event_key is null or grounded.object_event_key is null
                then 'no_such_event'
            when grounded.subject_role not in ('subject', 'both')
                or grounded.object_role not in ('object', 'both')
                then 'wrong_role'
            when grounded.subject_event_key = grounded.object_event_key then 'same_event'
            when allowed.relation is null then 'relation_not_allowed'
            when same_concepts.request_key is not null then 'same_concept'
        end as own_reject_reason
    from grounded
    left join allowed
        on grounded.prompt_task = allowed.prompt_task
        and grounded.relation = allowed.relation
        and grounded.subject_type = allowed.subject_type
        and grounded.object_type = allowed.object_type
    left join same_concepts
        on grounded.request_key = same_concepts.request_key
        and grounded.triple_position = same_concepts.triple_position

),

reply_triples as (

    select
        request_key,
        triple_position,
        generator,
        source,
        task,
        visit_key,
        target_visit_key,
        subject_number,
        subject_event_key,
        relation,
        object_number,
        object_event_key,
        why,
        coalesce(own_reject_reason, case
            when row_number() over (
                partition by
                    request_key, own_reject_reason, subject_event_key, relation, object_event_key
                order by triple_position
            ) > 1 then 'duplicate'
        end) as reject_reason
    from judged

)

select * from reply_triples
