-- Replies whose letter and choice contradict each other: a letter is an option or abstains, and
-- without a letter there is neither.
select
    request_key,
    parsed_letter,
    chosen_option_key,
    abstained
from {{ ref('fct_responses') }}
where (parsed_letter is not null)
    is distinct from (chosen_option_key is not null or abstained = 1)
    or (chosen_option_key is not null and abstained = 1)
