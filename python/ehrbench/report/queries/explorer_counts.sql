select
    (select count(*) from fct_triples) as triples,
    (select count(*) from dim_items) as items
