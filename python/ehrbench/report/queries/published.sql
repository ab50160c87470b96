-- What the paper printed beside what was measured here. n_part: answers of the task or number of
-- options that a figure is about; the mean over the tasks is no finer than its smallest task.
with

parts as (

    select
        model,
        mode,
        coalesce(task, 'acc_' || cast(n_options as varchar)) as figure,
        cast(sum(n) as integer) as n_part
    from rpt_accuracy
    where source = 'all'
    group by grouping sets ((model, mode, task), (model, mode, n_options))

),

wholes as (

    select * from parts
    union all
    select
        model,
        mode,
        'overall' as figure,
        min(n_part) as n_part
    from parts
    where figure in ('dx', 'tx', 'px')
    group by
        model,
        mode

)

select
    published.item_set,
    published.figure,
    published.model_published,
    published.theirs_kind,
    published.theirs,
    published.model,
    published.mode,
    published.ours,
    published.ours_low,
    published.ours_high,
    published.n,
    wholes.n_part,
    published.n_asked,
    published.figure not in ('rank', 'kendall_w') as is_share,
    published.comment
from rpt_published_results as published
left join wholes
    on published.model = wholes.model
    and published.mode = wholes.mode
    and published.figure = wholes.figure
order by
    published.item_set <> 'main',
    published.item_set,
    case published.figure
        when 'overall' then 1 when 'dx' then 2 when 'tx' then 3 when 'px' then 4 else 5
    end,
    published.figure,
    published.theirs desc,
    published.model_published,
    published.model,
    published.mode
