select
    coverage.source,
    coverage.event_type,
    coverage.code_system,
    coverage.code_class,
    coverage.outcome_kind,
    coverage.outcome,
    coverage.mapping_level,
    coverage.n_events,
    coverage.n_codes,
    coverage.n_source_rows,
    coverage.share_events,
    coverage.share_codes,
    reasons.meaning
from rpt_mapping_coverage as coverage
left join mapping_reasons as reasons
    on coverage.outcome = reasons.reason
where coverage.outcome_kind <> 'total'
order by
    coverage.code_class,
    coverage.source,
    coverage.event_type,
    coverage.code_system,
    coverage.outcome_kind,
    coverage.n_events desc,
    coverage.outcome,
    coverage.mapping_level
