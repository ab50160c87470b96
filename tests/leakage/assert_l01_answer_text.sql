-- Released items whose scenario or question holds the answer's label as whole words.
with

stems as (

    select
        items.template_key,
        answer_keys.gold_label,
        concat(items.scenario, chr(10), items.question) as stem,
        min(items.item_id) as item_id
    from {{ ref('dim_items') }} as items
    inner join {{ ref('fct_answer_keys') }} as answer_keys
        on items.item_id = answer_keys.item_id
    where items.released
    group by all

)

select
    item_id,
    gold_label
from stems
where contains({{ leak_words('stem') }}, {{ leak_words('gold_label') }})
