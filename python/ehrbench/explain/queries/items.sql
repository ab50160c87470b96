-- The items that the triple became.
select
    items.item_id,
    items.format,
    items.n_options,
    items.variant,
    items.released,
    quality.reason
from fct_templates as templates
inner join dim_items as items
    on templates.template_key = items.template_key
left join rpt_item_quality as quality
    on items.item_id = quality.item_id
where templates.triple_id = $triple_id
order by
    items.format,
    items.n_options,
    items.variant,
    items.item_id
