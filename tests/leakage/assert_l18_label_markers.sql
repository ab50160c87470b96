-- Markers of style that tell the answers of released items from their distractors.
select *
from {{ ref('int_leak__l18_label_markers') }}
where is_found
