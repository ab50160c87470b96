-- What the paper printed beside what was measured here.
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
    published.n_asked,
    published.figure not in ('rank', 'kendall_w') as is_share,
    published.comment
from rpt_published_results as published
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
