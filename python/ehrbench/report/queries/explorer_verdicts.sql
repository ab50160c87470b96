select
    chosen.place,
    verdicts.policy,
    verdicts.verdict,
    verdicts.failed_reason_codes,
    verdicts.match_level
from chosen_triples as chosen
inner join fct_triple_verdicts as verdicts
    on chosen.triple_id = verdicts.triple_id
order by
    chosen.place,
    verdicts.policy
