-- The item, whether it is released, and its answer.
select
    items.item_id,
    items.template_key,
    templates.triple_id,
    items.source,
    items.task,
    items.format,
    items.n_options,
    items.variant,
    items.n_context,
    items.context_critical,
    items.in_subset,
    items.released,
    quality.reason,
    quality.tag_rules,
    coalesce(balanced.draw, quality.draw) as draw,
    templates.policy,
    templates.onset_class,
    items.scenario,
    items.question,
    keys.gold_letter,
    keys.gold_label,
    keys.gold_cui,
    keys.rationale,
    keys.evidence
from dim_items as items
left join fct_templates as templates
    on items.template_key = templates.template_key
left join rpt_item_quality as quality
    on items.item_id = quality.item_id
left join fct_answer_keys as keys
    on items.item_id = keys.item_id
left join int_templates_balanced as balanced
    on items.template_key = balanced.template_key
where items.item_id = $item_id
