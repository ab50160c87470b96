-- What there is to explain: outcomes of triples (under the policy that items are made of) and of
-- items, each with how many have it and one id.
with

triple_outcomes as (

    select
        'triple' as kind,
        verdict as outcome,
        failed_reason_codes as reason,
        triple_id as id
    from fct_triple_verdicts
    where policy = coalesce((select min(policy) from fct_templates), policy)

),

item_outcomes as (

    select
        'item' as kind,
        case when released then 'released' else 'held back' end as outcome,
        reason,
        item_id as id
    from rpt_item_quality

),

united as (

    select * from triple_outcomes
    union all
    select * from item_outcomes

)

select
    kind,
    outcome,
    reason,
    count(*) as n,
    min(id) as id
from united
group by
    kind,
    outcome,
    reason
order by
    kind desc,
    outcome,
    n desc,
    reason
