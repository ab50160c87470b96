select
    place,
    triple_id,
    source,
    task,
    relation,
    subject_event_key,
    object_event_key,
    claim_key,
    is_newly_coded
from chosen_triples
order by place
