-- Multiple-choice items that the harnesses ask, by task and number of options: of sources that
-- count in pooled figures, those of the evaluation subset and all.
select
    task,
    n_options,
    count(*) filter (where in_subset) as n_subset,
    count(*) as n_items
from export_items
where format = 'mcq'
    and pooled
group by
    task,
    n_options
order by
    task,
    n_options
