select
    policy,
    source,
    task,
    generator,
    n_triples,
    n_accepted,
    n_rejected,
    n_persons,
    accepted_share,
    accepted_share_low,
    accepted_share_high,
    n_first_grounded,
    n_first_mapped,
    n_first_positive_support,
    n_first_unambiguous_relation,
    n_first_no_negative_evidence,
    n_first_no_context_conflict,
    n_first_ehr_lift
from rpt_yield_by_policy
order by
    source,
    task,
    generator,
    policy
