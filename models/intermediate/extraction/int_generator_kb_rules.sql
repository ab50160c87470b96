-- Event pairs of a visit (pair) that the knowledge base supports, at most kb_rules_per_visit per
-- visit, prompt task and relation in md5 order. A concept and its own ancestor, descendant or
-- equivalent make no triple: that is coding, not medicine.
with

task_events as not materialized (

    select * from {{ ref('int_task_events') }}

),

visits as (

    select
        visit_key,
        source
    from {{ ref('dim_visits') }}

),

event_concepts as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level not in ('part', 'none')

),

relations as (

    select * from {{ ref('relations') }}

),

supported_pairs as (

    select distinct
        relation,
        subject_cui_id,
        object_cui_id
    from {{ ref('int_supported_pairs') }}

),

relatives as (

    select distinct
        cui_id,
        relative_cui_id
    from {{ ref('int_concept_relatives') }}
    where relation <> 'sibling'

),

useful_pairs as (

    select
        relations.task,
        relations.prompt_task,
        relations.relation,
        relations.subject_type,
        relations.object_type,
        supported_pairs.subject_cui_id,
        supported_pairs.object_cui_id
    from supported_pairs
    inner join relations
        on supported_pairs.relation = relations.relation
    left join relatives
        on supported_pairs.subject_cui_id = relatives.cui_id
        and supported_pairs.object_cui_id = relatives.relative_cui_id
    where relatives.cui_id is null

),

listed_concepts as (

    select
        task_events.list_number,
        task_events.event_position,
        task_events.prompt_task,
        task_events.event_type,
        task_events.role_allowed,
        event_concepts.cui_id
    from task_events
    inner join event_concepts
        on task_events.event_key = event_concepts.event_key

),

useful_subjects as (

    select distinct
        prompt_task,
        subject_type,
        subject_cui_id
    from useful_pairs

),

useful_objects as (

    select distinct
        prompt_task,
        object_type,
        object_cui_id
    from useful_pairs

),

-- Only integers and short words go through the join of all pairs of a visit.
subjects as (

    select
        listed_concepts.list_number,
        listed_concepts.event_position,
        listed_concepts.prompt_task,
        listed_concepts.event_type,
        listed_concepts.cui_id
    from listed_concepts
    inner join useful_subjects
        on listed_concepts.prompt_task = useful_subjects.prompt_task
        and listed_concepts.event_type = useful_subjects.subject_type
        and listed_concepts.cui_id = useful_subjects.subject_cui_id
    where listed_concepts.role_allowed in ('subject', 'both')

),

objects as (

    select
        listed_concepts.list_number,
        listed_concepts.event_position,
        listed_concepts.event_type,
        listed_concepts.cui_id
    from listed_concepts
    inner join useful_objects
        on listed_concepts.prompt_task = useful_objects.prompt_task
        and listed_concepts.event_type = useful_objects.object_type
        and listed_concepts.cui_id = useful_objects.object_cui_id
    where listed_concepts.role_allowed in ('object', 'both')

),

position_pairs as (

    select distinct
        useful_pairs.task,
        useful_pairs.relation,
        subjects.list_number,
        subjects.event_position as subject_position,
        objects.event_position as object_position
    from subjects
    inner join objects
        on subjects.list_number = objects.list_number
        and subjects.event_position <> objects.event_position
    inner join useful_pairs
        on subjects.prompt_task = useful_pairs.prompt_task
        and subjects.event_type = useful_pairs.subject_type
        and objects.event_type = useful_pairs.object_type
        and subjects.cui_id = useful_pairs.subject_cui_id
        and objects.cui_id = useful_pairs.object_cui_id

),

-- Events with several concepts may share one without being the pair that is supported.
same_concepts as (

    select distinct
        position_pairs.list_number,
        position_pairs.subject_position,
        position_pairs.object_position
    from position_pairs
    inner join listed_concepts as subject_concepts
        on position_pairs.list_number = subject_concepts.list_number
        and position_pairs.subject_position = subject_concepts.event_position
    inner join listed_concepts as object_concepts
        on position_pairs.list_number = object_concepts.list_number
        and position_pairs.object_position = object_concepts.event_position
        and subject_concepts.cui_id = object_concepts.cui_id

),

pairs as (

    select
        visits.source,
        position_pairs.task,
        position_pairs.list_number,
        subject_events.visit_key,
        subject_events.target_visit_key,
        subject_events.event_key as subject_event_key,
        position_pairs.relation,
        object_events.event_key as object_event_key
    from position_pairs
    left join same_concepts
        on position_pairs.list_number = same_concepts.list_number
        and position_pairs.subject_position = same_concepts.subject_position
        and position_pairs.object_position = same_concepts.object_position
    inner join task_events as subject_events
        on position_pairs.list_number = subject_events.list_number
        and position_pairs.subject_position = subject_events.event_position
    inner join task_events as object_events
        on position_pairs.list_number = object_events.list_number
        and position_pairs.object_position = object_events.event_position
    inner join visits
        on subject_events.visit_key = visits.visit_key
    where same_concepts.list_number is null

),

capped as (

    select *
    from pairs
    qualify row_number() over (
        partition by list_number, relation
        order by
            {{ key(['visit_key', 'subject_event_key', 'relation', 'object_event_key']) }},
            subject_event_key, object_event_key
    ) <= {{ var('kb_rules_per_visit') }}

),

proposals as (

    select
        'kb_rules' as generator,
        cast(null as varchar) as request_key,
        source,
        task,
        visit_key,
        target_visit_key,
        subject_event_key,
        relation,
        object_event_key,
        cast(null as varchar) as why,
        false as donor
    from capped

)

select * from proposals
