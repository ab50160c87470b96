-- What a rater sees of the items, which is what a model sees, in an order of the rater's own.
select
    sample.item_id,
    items.scenario,
    items.question,
    string_agg(
        concat(options.option_letter, '. ', options.label), chr(10)
        order by options.option_letter
    ) as options,
    string_agg(options.option_letter, '/' order by options.option_letter) as letters
from fct_audit_items as sample
inner join dim_items as items
    on sample.item_id = items.item_id
inner join fct_item_options as options
    on sample.item_id = options.item_id
group by
    sample.item_id,
    items.scenario,
    items.question
order by
    md5(concat_ws('|', $rater, sample.item_id)),
    sample.item_id
