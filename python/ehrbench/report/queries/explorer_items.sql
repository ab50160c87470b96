select
    chosen.*,
    templates.triple_id,
    triples.place as triple_place,
    templates.onset_class,
    quality.draw,
    quality.reason,
    quality.tag_rules
from chosen_items as chosen
left join fct_templates as templates
    on chosen.template_key = templates.template_key
left join chosen_triples as triples
    on templates.triple_id = triples.triple_id
left join rpt_item_quality as quality
    on chosen.item_id = quality.item_id
order by chosen.place
