-- Every event that a triple of the explorer names, with its first concept.
with used as (
    select distinct roles.event_key
    from chosen_triples as chosen
    inner join fct_triple_events as roles
        on chosen.triple_id = roles.triple_id
    union
    select subject_event_key from chosen_triples
    union
    select object_event_key from chosen_triples
)

select
    events.event_key,
    events.event_type,
    events.code_system,
    events.source_code,
    events.normalized_code,
    events.label,
    events.is_status_code,
    events.is_routine,
    events.is_residual_title,
    events.is_hindsight,
    events.procedure_role,
    events.administration
from used
inner join fct_visit_events as events
    on used.event_key = events.event_key
order by events.event_key
