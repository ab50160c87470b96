{{ config(severity='warn') }}
-- Rules that find more than their seed row allows, where nothing but the figure tells: what a fail
-- rule finds never reaches a released item, and each has a test of its own for that.
select
    rule_id,
    name,
    policy,
    n_checked,
    n_found,
    rate,
    allowed_rate
from {{ ref('rpt_leak_rules') }}
where assessed
    and policy <> 'fail'
    and rate > allowed_rate
