-- Orders of ids or of storage that tell the answer, in released items.
select *
from {{ ref('int_leak__l39_id_order') }}
where is_found
