-- Label lengths that tell the answer, in released items.
select *
from {{ ref('int_leak__l19_label_length') }}
where is_found
