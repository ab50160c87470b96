-- What a rater sees of the triples: no verdict, policy, evidence, source or generator, in an order
-- of the rater's own, so that tired raters do not err on the same ones.
select
    sample.triple_id,
    concat(subject_words.word, ': ', sample.subject_label) as subject,
    relations.wording as relation,
    concat(object_words.word, ': ', sample.object_label) as object,
    sample.context_labels as context
from fct_audit_sample as sample
inner join fct_triples as triples
    on sample.triple_id = triples.triple_id
inner join fct_visit_events as subjects
    on triples.subject_event_key = subjects.event_key
inner join fct_visit_events as objects
    on triples.object_event_key = objects.event_key
inner join relations
    on sample.relation = relations.relation
    and sample.task = relations.task
    and subjects.event_type = relations.subject_type
    and objects.event_type = relations.object_type
inner join event_type_words as subject_words
    on subjects.event_type = subject_words.event_type
inner join event_type_words as object_words
    on objects.event_type = object_words.event_type
order by
    md5(concat_ws('|', $rater, sample.triple_id)),
    sample.triple_id
