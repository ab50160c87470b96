-- The claim that fct_triples names is the first of fct_triple_claims.
select
    triples.triple_id,
    triples.claim_key,
    claims.claim_key as first_claim_key
from {{ ref('fct_triples') }} as triples
left join {{ ref('fct_triple_claims') }} as claims
    on triples.triple_id = claims.triple_id
    and claims.rank = 1
where triples.claim_key is not null
    and triples.claim_key is distinct from claims.claim_key
