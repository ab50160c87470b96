-- The items that show the same options, each asking for another of them: one block, one number of
-- options, one wording. They are released together or not at all.
with

item as (

    select
        items.item_id,
        items.format,
        items.n_options,
        items.variant,
        balanced.block_number
    from dim_items as items
    inner join int_templates_balanced as balanced
        on items.template_key = balanced.template_key
    where items.item_id = $item_id
        and balanced.block_number is not null
        and items.format = 'mcq'

)

select
    items.item_id,
    keys.gold_label,
    items.item_id = item.item_id as is_this_item,
    quality.released,
    quality.reason
from item
inner join int_templates_balanced as balanced
    on item.block_number = balanced.block_number
inner join dim_items as items
    on balanced.template_key = items.template_key
    and item.format = items.format
    and item.n_options = items.n_options
    and item.variant = items.variant
left join rpt_item_quality as quality
    on items.item_id = quality.item_id
left join fct_answer_keys as keys
    on items.item_id = keys.item_id
order by
    keys.gold_label,
    items.item_id
