-- Text of released items that looks like a date, a time, a key, or an id of a patient or stay
-- (MIMIC's have eight digits).
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

options as (

    select * from {{ ref('fct_item_options') }}

),

texts as (

    select
        item_id,
        scenario as text
    from items

    union all

    select
        item_id,
        question as text
    from items

    union all

    select
        items.item_id,
        options.label as text
    from items
    inner join options
        on items.item_id = options.item_id

)

select *
from texts
where regexp_matches(text, '[0-9]{4}-[0-9]{2}-[0-9]{2}')
    or regexp_matches(text, '\b[0-9]{1,2}:[0-9]{2}\b')
    or regexp_matches(text, '\b[0-9]{8}\b')
    or regexp_matches(text, '\b[0-9a-f]{32}\b')
