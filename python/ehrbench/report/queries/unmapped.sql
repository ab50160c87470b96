select
    codes.source,
    codes.code_system,
    codes.normalized_code,
    codes.label,
    codes.reason,
    reasons.meaning,
    codes.what_to_do,
    codes.n_events
from rpt_unmapped_codes as codes
left join mapping_reasons as reasons
    on codes.reason = reasons.reason
where codes.frequency_rank <= 50
order by
    codes.source,
    codes.frequency_rank
