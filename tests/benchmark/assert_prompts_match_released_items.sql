-- Released items without exactly one standard prompt, prompts of other items, and prompts whose
-- messages are not a JSON list of a system and a user message that shows scenario and question.
with

items as (

    select * from {{ ref('dim_items') }}
    where released

),

prompts as (

    select * from {{ ref('fct_prompts') }}
    where arm = 'standard'

)

select
    coalesce(items.item_id, prompts.item_id) as item_id,
    count(prompts.prompt_key) as n_prompts
from items
full outer join prompts
    on items.item_id = prompts.item_id
group by
    items.item_id,
    prompts.item_id
having count(prompts.prompt_key) <> 1
    or count(items.item_id) <> 1
    or bool_or(json_array_length(prompts.messages) is distinct from 2)
    or bool_or(json_extract_string(prompts.messages, '$[0].role') is distinct from 'system')
    or bool_or(not contains(
        json_extract_string(prompts.messages, '$[1].content'), items.scenario))
    or bool_or(not contains(
        json_extract_string(prompts.messages, '$[1].content'), items.question))
