select
    counted.policy,
    counted.source,
    counted.task,
    counted.generator,
    counted.check_name,
    counted.reason_code,
    reasons.meaning,
    counted.n_any,
    counted.n_first,
    counted.n_only,
    counted.n_triples,
    counted.share_of_triples
from rpt_rejection_reasons as counted
left join validation_reasons as reasons
    on counted.check_name = reasons.check_name
    and counted.reason_code = reasons.reason_code
order by
    counted.policy,
    counted.source,
    counted.task,
    counted.generator,
    counted.n_any desc,
    counted.check_name,
    counted.reason_code
