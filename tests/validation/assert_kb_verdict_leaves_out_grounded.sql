-- The two verdicts differ only where grounded is the one check that failed.
select
    verdicts.triple_id,
    verdicts.policy,
    verdicts.verdict,
    verdicts.kb_verdict,
    checks.status as grounded_status
from {{ ref('fct_triple_verdicts') }} as verdicts
inner join {{ ref('fct_triple_checks') }} as checks
    on verdicts.triple_id = checks.triple_id
    and checks.check_name = 'grounded'
where (verdicts.verdict = 'accepted')
    is distinct from (verdicts.kb_verdict = 'accepted' and checks.status = 'pass')
