-- Cues of grammar, case, order or form in questions, labels and prompts.
select *
from {{ ref('int_leak_set_results') }}
where rule_id = 'L31'
    and is_found
