-- Replies whose status and letter contradict each other.
select
    request_key,
    parse_status,
    parsed_letter
from {{ ref('fct_responses') }}
where (parse_status = 'parsed') is distinct from (parsed_letter is not null)
