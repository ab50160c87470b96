-- The triple and where it stands in the patient's sequence of visits; no date, no id of the source.
select
    triples.triple_id,
    triples.source,
    triples.task,
    subject.label as subject_label,
    triples.relation,
    relations.wording as relation_meaning,
    object.label as object_label,
    triples.is_newly_coded,
    triples.patient_key,
    visits.visit_number,
    patients.n_visits,
    visits.visit_class,
    answer_visits.visit_number as answer_visit_number,
    case
        when triples.target_visit_key = visits.next_inpatient_visit_key
            then visits.days_to_next_inpatient
    end as days_to_answer_visit,
    coalesce(object_visits.patient_key <> triples.patient_key, false) as object_is_of_another
from fct_triples as triples
left join dim_visits as visits
    on triples.visit_key = visits.visit_key
left join dim_visits as answer_visits
    on triples.target_visit_key = answer_visits.visit_key
    and triples.target_visit_key <> triples.visit_key
left join dim_patients as patients
    on triples.patient_key = patients.patient_key
left join fct_visit_events as subject
    on triples.subject_event_key = subject.event_key
left join fct_visit_events as object
    on triples.object_event_key = object.event_key
left join dim_visits as object_visits
    on object.visit_key = object_visits.visit_key
left join relations
    on triples.relation = relations.relation
    and triples.task = relations.task
    and subject.event_type = relations.subject_type
    and object.event_type = relations.object_type
where triples.triple_id = $triple_id
