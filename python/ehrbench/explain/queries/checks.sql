select
    checks.check_name,
    checks.status,
    listed.comment as passes_when,
    checks.reason_code,
    reasons.meaning as reason_meaning,
    reasons.comment as reason_comment,
    checks.n_supporting_pmids,
    checks.n_supporting_curated,
    checks.n_contradicting_pmids
from fct_triple_checks as checks
left join validation_checks as listed
    on checks.check_name = listed.check_name
left join validation_reasons as reasons
    on checks.check_name = reasons.check_name
    and checks.reason_code = reasons.reason_code
where checks.triple_id = $triple_id
order by
    listed.check_order,
    checks.check_name
