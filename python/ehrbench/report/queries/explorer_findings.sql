-- What the leak rules found in an item, in its template or in one of its options.
with found as (
    select
        chosen.place,
        findings.rule_id,
        findings.scope,
        findings.evidence,
        options.label as option_label
    from chosen_items as chosen
    inner join fct_leak_findings as findings
        on chosen.item_id = findings.item_id
    left join fct_item_options as options
        on findings.item_id = options.item_id
        and findings.option_key = options.option_key

    union all

    select
        chosen.place,
        findings.rule_id,
        findings.scope,
        findings.evidence,
        options.label as option_label
    from chosen_items as chosen
    inner join fct_leak_findings as findings
        on chosen.template_key = findings.template_key
        and findings.item_id is null
    left join fct_item_options as options
        on chosen.item_id = options.item_id
        and findings.option_key = options.option_key
    -- An option of the template need not be one of this item.
    where findings.scope <> 'option'
        or options.option_key is not null
)

select
    place,
    rule_id,
    scope,
    evidence,
    option_label
from found
order by
    place,
    rule_id,
    scope,
    option_label,
    evidence
