-- Letters read from a reply that the item does not offer.
select
    responses.request_key,
    responses.parsed_letter
from {{ ref('fct_responses') }} as responses
left join {{ ref('fct_item_options') }} as options
    on responses.item_id = options.item_id
    and responses.parsed_letter = options.option_letter
where responses.parsed_letter is not null
    and options.option_letter is null
