-- Triples and items whose id is, or begins with, what was given.
with

ids as (

    select
        'triple' as kind,
        triple_id as id
    from fct_triples

    union all

    select
        'item' as kind,
        item_id as id
    from dim_items

)

select
    kind,
    id,
    count(*) over () as n_found
from ids
where starts_with(id, $given)
order by
    id,
    kind
limit 3
