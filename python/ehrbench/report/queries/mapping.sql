select
    coverage.source,
    coverage.event_type,
    coverage.code_system,
    coverage.code_class,
    coverage.outcome,
    coverage.mapping_level,
    coverage.n_events,
    coverage.n_codes,
    coverage.share_events,
    coverage.share_codes,
    cast(sum(coverage.n_events) over kinds as bigint) as n_all_events,
    -- No more than there are: a code can have several outcomes.
    max(coverage.n_codes) over kinds as n_all_codes,
    reasons.meaning
from rpt_mapping_coverage as coverage
left join mapping_reasons as reasons
    on coverage.outcome = reasons.reason
where coverage.outcome_kind <> 'total'
window kinds as (
    partition by
        coverage.source,
        coverage.event_type,
        coverage.code_system,
        coverage.code_class
)
order by
    coverage.code_class,
    coverage.source,
    coverage.event_type,
    coverage.code_system,
    coverage.outcome_kind,
    coverage.n_events desc,
    coverage.outcome,
    coverage.mapping_level
