select
    chosen.place,
    options.option_letter,
    options.label,
    options.cui,
    options.option_letter = chosen.gold_letter as is_answer
from chosen_items as chosen
inner join fct_item_options as options
    on chosen.item_id = options.item_id
order by
    chosen.place,
    options.option_letter
