-- The items that the explorer holds, by the same rule.
with drawn as (
    select *
    from dim_items
    order by
        md5(template_key),
        item_id
    limit $most
)

select
    cast(row_number() over (
        order by
            drawn.source,
            drawn.task,
            keys.gold_label,
            drawn.template_key,
            drawn.format,
            drawn.n_options,
            drawn.variant,
            drawn.item_id
    ) - 1 as integer) as place,
    drawn.item_id,
    drawn.template_key,
    drawn.source,
    drawn.task,
    drawn.format,
    drawn.n_options,
    drawn.variant,
    drawn.context_critical,
    drawn.scenario,
    drawn.question,
    drawn.released,
    drawn.in_subset,
    keys.gold_letter,
    keys.gold_label,
    keys.gold_cui,
    keys.rationale,
    keys.evidence
from drawn
left join fct_answer_keys as keys
    on drawn.item_id = keys.item_id
