-- A lost triple without a reason, or one with items and a reason.
select *
from {{ ref('int_template_attrition') }}
where (step is null) <> (reason is null)
    or (step is null) <> (n_items > 0)
