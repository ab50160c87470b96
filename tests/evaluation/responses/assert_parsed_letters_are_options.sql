-- Letters read from a reply that the prompt does not offer: the options of the arm where it has its
-- own, else the item's.
select
    responses.request_key,
    responses.parsed_letter
from {{ ref('fct_responses') }} as responses
left join {{ ref('fct_item_options') }} as options
    on responses.item_id = options.item_id
    and responses.parsed_letter = options.option_letter
    and not exists (
        select 1 from {{ ref('int_arm_options') }} as own_options
        where own_options.item_id = responses.item_id
            and own_options.arm = responses.arm
    )
left join {{ ref('int_arm_options') }} as arm_options
    on responses.item_id = arm_options.item_id
    and responses.arm = arm_options.arm
    and responses.parsed_letter = arm_options.option_letter
where responses.parsed_letter is not null
    and options.option_letter is null
    and arm_options.option_letter is null
