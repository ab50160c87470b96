select
    chosen.place,
    conflicts.rule,
    events.label as context_label,
    conflicts.context_cui,
    context.name as context_name,
    conflicts.kb,
    conflicts.predicate_or_rela,
    conflicts.n_pmids as n_articles,
    conflicts.pmid,
    conflicts.sentence
from chosen_triples as chosen
inner join fct_context_conflicts as conflicts
    on chosen.triple_id = conflicts.triple_id
left join fct_visit_events as events
    on conflicts.context_event_key = events.event_key
left join dim_concepts as context
    on conflicts.context_cui = context.cui
order by
    chosen.place,
    conflicts.rule,
    events.label,
    conflicts.context_event_key,
    conflicts.rank
