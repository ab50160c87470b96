-- Over all tasks; the table has each task too.
select
    model,
    mode,
    grouping,
    subgroup,
    n,
    cast(sum(n) over (partition by model, mode, grouping) as integer) - n as n_rest,
    n_asked,
    n_templates,
    n_clusters,
    accuracy,
    accuracy_low,
    accuracy_high,
    gap,
    gap_low,
    gap_high,
    status
from rpt_subgroups
where task = 'all'
order by
    grouping,
    mode,
    model,
    subgroup_order,
    subgroup
