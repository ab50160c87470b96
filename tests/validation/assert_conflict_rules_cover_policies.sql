-- Every rule is switched on or off for every policy and for the fixed thresholds.
with

policies as (

    select policy from {{ ref('evidence_policies') }}
    union all
    select 'fixed' as policy

),

rules as (

    select distinct rule from {{ ref('conflict_rules') }}

),

expected as (

    select
        policies.policy,
        rules.rule
    from policies
    cross join rules

)

select
    expected.policy,
    expected.rule,
    conflict_rules.policy as listed_policy
from expected
full outer join {{ ref('conflict_rules') }} as conflict_rules
    on expected.policy = conflict_rules.policy
    and expected.rule = conflict_rules.rule
where expected.rule is null
    or conflict_rules.rule is null
