-- Text of released items that looks like a date, a time, a key, an age above 89, a name, or an id
-- of a patient or stay (MIMIC's have five to eight digits): by the seed's patterns, and by four
-- fixed ones whatever the seed says.
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

options as (

    select * from {{ ref('fct_item_options') }}

),

patterns as (

    select pattern from {{ ref('identifier_patterns') }}

),

texts as (

    select scenario as text
    from items

    union

    select question as text
    from items

    union

    select options.label as text
    from options
    inner join items
        on options.item_id = items.item_id

)

select texts.text
from texts
where regexp_matches(texts.text, '[0-9]{4}-[0-9]{2}-[0-9]{2}')
    or regexp_matches(texts.text, '\b[0-2]?[0-9]:[0-5][0-9]\b')
    or regexp_matches(texts.text, '[0-9]{8}')
    or regexp_matches(texts.text, '\b[0-9a-f]{32}\b')
    or exists (
        select 1 from patterns
        where regexp_matches(texts.text, patterns.pattern)
    )
