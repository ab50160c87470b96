-- Items by task, source, format and number of options.
select
    task,
    source,
    format,
    n_options,
    count(*) as n_items,
    count(distinct stem) as n_stems,
    count(*) filter (where in_subset) as n_subset,
    count(*) filter (where draw = 'weighted') as n_weighted
from export_items
group by
    task,
    source,
    format,
    n_options
order by
    task,
    source,
    format,
    n_options
