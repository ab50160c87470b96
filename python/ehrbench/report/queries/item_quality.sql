-- Items by what came of them: one row per source, task, format and outcome.
select
    quality.source,
    quality.task,
    items.format,
    quality.released,
    quality.reason,
    count(*) as n_items,
    count(distinct items.template_key) as n_templates
from rpt_item_quality as quality
inner join dim_items as items
    on quality.item_id = items.item_id
group by
    quality.source,
    quality.task,
    items.format,
    quality.released,
    quality.reason
order by
    quality.source,
    quality.task,
    items.format,
    quality.released desc,
    n_items desc,
    quality.reason
