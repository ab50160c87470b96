-- The files: one per format and task.
select
    format,
    task,
    count(*) as n_items
from export_items
group by
    format,
    task
order by
    format,
    task
