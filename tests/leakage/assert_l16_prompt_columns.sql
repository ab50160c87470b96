-- Prompts that hold more than wordings, scenario, question and options, or name the answer outside
-- the options.
select *
from {{ ref('int_leak_set_results') }}
where rule_id = 'L16'
    and is_found
