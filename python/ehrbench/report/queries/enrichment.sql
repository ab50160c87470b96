-- Persons are those of the generator's own triples: rpt_enrichment counts the null's with them.
select
    rates.policy,
    rates.source,
    rates.task,
    rates.generator,
    rates.match_level,
    rates.n,
    rates.n_kb_pass,
    yields.n_persons,
    rates.pass_rate,
    rates.pass_rate_low,
    rates.pass_rate_high,
    rates.null_n,
    rates.null_pass_rate,
    rates.enrichment,
    rates.enrichment_low,
    rates.enrichment_high,
    rates.status,
    rates.reason
from rpt_enrichment as rates
left join rpt_yield_by_policy as yields
    on rates.policy = yields.policy
    and rates.source = yields.source
    and rates.task = yields.task
    and rates.generator = yields.generator
order by
    rates.policy,
    rates.source,
    rates.task,
    rates.generator,
    rates.match_level
