-- The evidence policy whose accepted triples became the items.
select distinct policy
from fct_templates
order by policy
