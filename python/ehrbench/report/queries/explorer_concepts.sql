with used as (
    select distinct roles.event_key
    from chosen_triples as chosen
    inner join fct_triple_events as roles
        on chosen.triple_id = roles.triple_id
)

select
    mapped.event_key,
    mapped.cui,
    concepts.name,
    mapped.mapping_method,
    mapped.mapping_level,
    mapped.reason
from used
inner join brg_event_concepts as mapped
    on used.event_key = mapped.event_key
left join dim_concepts as concepts
    on mapped.cui = concepts.cui
order by
    mapped.event_key,
    mapped.rank,
    mapped.cui
