select
    chosen.place,
    proposals.generator,
    left(proposals.why, $most) as why,
    length(proposals.why) as why_length
from chosen_triples as chosen
inner join fct_triple_proposals as proposals
    on chosen.triple_id = proposals.triple_id
order by
    chosen.place,
    proposals.generator,
    proposals.request_key,
    proposals.why
