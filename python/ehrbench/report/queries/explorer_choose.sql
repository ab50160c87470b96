-- The triples that the explorer holds: all, or $most of them drawn by md5; ordered so that those of
-- a visit stand together and share the events of their chunk.
with drawn as (
    select *
    from fct_triples
    order by
        md5(triple_id),
        triple_id
    limit $most
)

select
    cast(row_number() over (
        order by
            drawn.source,
            drawn.patient_key,
            drawn.visit_key,
            drawn.task,
            subject.label,
            object.label,
            drawn.relation,
            drawn.triple_id
    ) - 1 as integer) as place,
    drawn.triple_id,
    drawn.source,
    drawn.task,
    drawn.relation,
    drawn.subject_event_key,
    drawn.object_event_key,
    drawn.claim_key,
    drawn.is_newly_coded
from drawn
left join fct_visit_events as subject
    on drawn.subject_event_key = subject.event_key
left join fct_visit_events as object
    on drawn.object_event_key = object.event_key
