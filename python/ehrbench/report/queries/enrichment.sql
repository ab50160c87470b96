select
    policy,
    source,
    task,
    generator,
    match_level,
    n,
    n_kb_pass,
    n_persons,
    pass_rate,
    pass_rate_low,
    pass_rate_high,
    null_n,
    null_pass_rate,
    enrichment,
    enrichment_low,
    enrichment_high,
    status,
    reason
from rpt_enrichment
order by
    policy,
    source,
    task,
    generator,
    match_level
