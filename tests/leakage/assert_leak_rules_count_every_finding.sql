-- Rules whose row in the report does not say what the findings say, or that claim to be assessed
-- without having looked at anything.
with

rules as (

    select * from {{ ref('rpt_leak_rules') }}

),

findings_counted as (

    select
        rule_id,
        count(*) as n_found
    from {{ ref('fct_leak_findings') }}
    group by rule_id

)

select
    rules.rule_id,
    rules.n_found,
    findings_counted.n_found as n_findings
from rules
left join findings_counted
    on rules.rule_id = findings_counted.rule_id
where (
        rules.kind = 'item'
        and coalesce(rules.n_found, 0) <> coalesce(findings_counted.n_found, 0)
    )
    or rules.n_found > rules.n_checked
    or (rules.kind <> 'structure' and rules.assessed and coalesce(rules.n_checked, 0) = 0)
    or (rules.reason is null and (not rules.assessed or rules.kind = 'structure'))
    or (not rules.assessed and rules.rate is not null)
