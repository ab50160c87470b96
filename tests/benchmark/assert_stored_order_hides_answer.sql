-- Options that are not stored in the order of their letters. Any other order comes from how the
-- table was made, which knows the answer: an unordered select or a dump could point at it.
with

options as (

    select
        item_id,
        option_letter,
        row_number() over (
            partition by item_id
            order by rowid
        ) as stored_place
    from {{ ref('fct_item_options') }}

)

select
    item_id,
    option_letter,
    stored_place
from options
where stored_place <> ascii(option_letter) - 64
