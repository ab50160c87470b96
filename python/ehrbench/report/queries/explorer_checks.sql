select
    chosen.place,
    checks.check_name,
    checks.status,
    checks.reason_code,
    checks.n_supporting_pmids,
    checks.n_supporting_curated,
    checks.n_contradicting_pmids
from chosen_triples as chosen
inner join fct_triple_checks as checks
    on chosen.triple_id = checks.triple_id
left join validation_checks as listed
    on checks.check_name = listed.check_name
order by
    chosen.place,
    listed.check_order,
    checks.check_name
