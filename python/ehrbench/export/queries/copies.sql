-- Sources with the people of another source, which pooled figures leave out.
select
    source,
    counted_by
from int_pooled_sources
where not is_pooled
order by source
