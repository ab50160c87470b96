select
    chosen.place,
    claims.claim_key
from chosen_triples as chosen
inner join fct_triple_claims as claims
    on chosen.triple_id = claims.triple_id
order by
    chosen.place,
    claims.rank,
    claims.claim_key
