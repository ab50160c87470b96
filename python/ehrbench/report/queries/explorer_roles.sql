select
    chosen.place,
    roles.role,
    roles.event_key
from chosen_triples as chosen
inner join fct_triple_events as roles
    on chosen.triple_id = roles.triple_id
order by
    chosen.place,
    case roles.role when 'subject' then 1 when 'object' then 2 else 3 end,
    roles.position,
    roles.event_key
