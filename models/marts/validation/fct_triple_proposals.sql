-- Who proposed a triple, and why. One row per triple, generator and request.
with

proposals as (

    select * from {{ ref('int_extraction_proposals') }}

),

triple_proposals as (

    select
        {{ key([
            'source', 'task', 'visit_key', 'target_visit_key',
            'subject_event_key', 'relation', 'object_event_key',
        ]) }} as triple_id,
        generator,
        request_key,
        why
    from proposals

)

select * from triple_proposals
