select
    source,
    task,
    n_stems,
    n_unique,
    share_unique,
    n_rare,
    share_rare
from rpt_stem_anonymity
order by
    source,
    task
