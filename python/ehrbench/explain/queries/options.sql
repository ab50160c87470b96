select
    options.option_letter,
    options.label,
    options.cui,
    concepts.name as concept_name,
    coalesce(options.option_key = keys.gold_option_key, false) as is_answer
from fct_item_options as options
left join fct_answer_keys as keys
    on options.item_id = keys.item_id
left join dim_concepts as concepts
    on options.cui = concepts.cui
where options.item_id = $item_id
order by options.option_letter
