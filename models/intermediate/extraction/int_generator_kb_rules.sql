-- Event pairs of a visit (pair) that the knowledge base supports, at most kb_rules_per_visit per
-- visit, prompt task and relation in md5 order. A concept and its own ancestor, descendant or
-- equivalent make no triple: that is coding, not medicine.
with

task_events as (

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
        supported_pairs.relation,
        supported_pairs.subject_cui_id,
        supported_pairs.object_cui_id
    from supported_pairs
    left join relatives
        on supported_pairs.subject_cui_id = relatives.cui_id
        and supported_pairs.object_cui_id = relatives.relative_cui_id
    where relatives.cui_id is null

),

subjects as (

    select
        task_events.visit_key,
        task_events.target_visit_key,
        task_events.prompt_task,
        task_events.event_type,
        task_events.event_key,
        event_concepts.cui_id
    from task_events
    inner join event_concepts
        on task_events.event_key = event_concepts.event_key
    where task_events.role_allowed in ('subject', 'both')

),

objects as (

    select
        task_events.visit_key,
        task_events.target_visit_key,
        task_events.prompt_task,
        task_events.event_type,
        task_events.event_key,
        event_concepts.cui_id
    from task_events
    inner join event_concepts
        on task_events.event_key = event_concepts.event_key
    where task_events.role_allowed in ('object', 'both')

),

pairs as (

    select distinct
        visits.source,
        relations.task,
        subjects.prompt_task,
        subjects.visit_key,
        subjects.target_visit_key,
        subjects.event_key as subject_event_key,
        relations.relation,
        objects.event_key as object_event_key
    from subjects
    inner join objects
        on subjects.visit_key = objects.visit_key
        and subjects.prompt_task = objects.prompt_task
        and subjects.target_visit_key is not distinct from objects.target_visit_key
    inner join useful_pairs
        on subjects.cui_id = useful_pairs.subject_cui_id
        and objects.cui_id = useful_pairs.object_cui_id
    inner join relations
        on subjects.prompt_task = relations.prompt_task
        and useful_pairs.relation = relations.relation
        and subjects.event_type = relations.subject_type
        and objects.event_type = relations.object_type
    inner join visits
        on subjects.visit_key = visits.visit_key
    where subjects.event_key <> objects.event_key

),

-- Events with several concepts may share one without being the pair that is supported.
same_concepts as (

    select distinct
        pairs.subject_event_key,
        pairs.object_event_key
    from pairs
    inner join event_concepts as subject_concepts
        on pairs.subject_event_key = subject_concepts.event_key
    inner join event_concepts as object_concepts
        on pairs.object_event_key = object_concepts.event_key
        and subject_concepts.cui_id = object_concepts.cui_id

),

capped as (

    select pairs.*
    from pairs
    left join same_concepts
        on pairs.subject_event_key = same_concepts.subject_event_key
        and pairs.object_event_key = same_concepts.object_event_key
    where same_concepts.subject_event_key is null
    qualify row_number() over (
        partition by
            pairs.visit_key, pairs.target_visit_key, pairs.prompt_task, pairs.relation
        order by
            {{ key([
                'pairs.visit_key', 'pairs.subject_event_key', 'pairs.relation',
                'pairs.object_event_key',
            ]) }},
            pairs.subject_event_key, pairs.object_event_key
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
