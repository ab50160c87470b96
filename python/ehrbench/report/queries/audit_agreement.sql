select
    question,
    rater_a,
    rater_b,
    n,
    agreement,
    kappa,
    kappa_low,
    kappa_high,
    ac1,
    ac1_low,
    ac1_high
from rpt_audit_agreement
order by
    question,
    rater_a,
    rater_b
