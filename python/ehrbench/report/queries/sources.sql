-- What each source of patients brought to the benchmark.
with

patients as (

    select source, count(*) as n_patients
    from dim_patients
    group by source

),

visits as (

    select source, count(*) as n_visits
    from dim_visits
    group by source

),

events as (

    select source, count(*) as n_events
    from fct_visit_events
    group by source

),

triples as (

    select source, count(*) as n_triples
    from fct_triples
    group by source

),

items as (

    select
        source,
        count(*) as n_items,
        count(*) filter (where released) as n_released
    from dim_items
    group by source

)

select
    patients.source,
    patients.n_patients,
    coalesce(visits.n_visits, 0) as n_visits,
    coalesce(events.n_events, 0) as n_events,
    coalesce(triples.n_triples, 0) as n_triples,
    coalesce(items.n_items, 0) as n_items,
    coalesce(items.n_released, 0) as n_released
from patients
left join visits
    on patients.source = visits.source
left join events
    on patients.source = events.source
left join triples
    on patients.source = triples.source
left join items
    on patients.source = items.source
order by patients.source
