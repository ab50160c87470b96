-- Triples that models proposed, one row per request and triple.
with

reply_triples as (

    select * from {{ ref('int_extraction_reply_triples') }} where reject_reason is null

),

proposals as (

    select
        generator,
        request_key,
        source,
        task,
        visit_key,
        target_visit_key,
        subject_event_key,
        relation,
        object_event_key,
        why,
        false as donor
    from reply_triples

)

select * from proposals
