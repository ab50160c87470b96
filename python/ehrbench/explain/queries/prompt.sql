-- The messages that a model is sent, word for word; none when the item is held back.
select messages
from fct_prompts
where item_id = $item_id
    and arm = 'standard'
order by prompt_key
limit 1
