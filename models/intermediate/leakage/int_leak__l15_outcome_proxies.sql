-- L15: a scenario code stands for an outcome or its eve (death, arrest, limits of care).
with

scenario_codes as (

    select * from {{ ref('int_leak_scenario_codes') }}

),

outcome_proxies as (

    select * from {{ ref('outcome_proxies') }}

),

found as (

    select
        'L15' as rule_id,
        'template' as scope,
        scenario_codes.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(concat(
            outcome_proxies.outcome, ' by ', scenario_codes.code_system, ' ',
            scenario_codes.normalized_code
        )) as evidence
    from scenario_codes
    inner join outcome_proxies
        on scenario_codes.code_system = outcome_proxies.code_system
        and {{ code_in_range('scenario_codes.normalized_code', 'outcome_proxies.code_from',
            'outcome_proxies.code_to') }}
    group by scenario_codes.template_key

)

select * from found
