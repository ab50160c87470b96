-- What the leak rules found in the item, in its template or in one of its options.
with

item as (

    select
        item_id,
        template_key
    from dim_items
    where item_id = $item_id

),

found as (

    select findings.*
    from fct_leak_findings as findings
    inner join item
        on findings.item_id = item.item_id
        or (findings.item_id is null and findings.template_key = item.template_key)

)

select
    found.rule_id,
    rules.name,
    rules.question,
    rules.policy,
    rules.comment,
    found.scope,
    options.option_letter,
    options.label as option_label,
    found.evidence
from found
left join leak_rules as rules
    on found.rule_id = rules.rule_id
left join fct_item_options as options
    on options.item_id = $item_id
    and found.option_key = options.option_key
-- An option of the template need not be one of this item.
where found.scope <> 'option'
    or options.option_key is not null
order by
    found.rule_id,
    found.scope,
    options.option_letter,
    found.evidence
