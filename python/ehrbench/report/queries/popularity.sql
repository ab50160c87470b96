select
    policy,
    source,
    task,
    band,
    min_pmids,
    n_pairs,
    n_triples,
    recall,
    recall_low,
    recall_high,
    denied_share,
    denied_share_low,
    denied_share_high
from rpt_recall_by_popularity
order by
    policy,
    source,
    task,
    band_order,
    band
