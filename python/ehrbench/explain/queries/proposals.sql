select
    generator,
    why,
    request_key
from fct_triple_proposals
where triple_id = $triple_id
order by
    generator,
    request_key,
    why
