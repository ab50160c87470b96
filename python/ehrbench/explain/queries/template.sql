-- The template that the triple became.
select template_number
from int_templates
where triple_id = $triple_id
