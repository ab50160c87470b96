-- One row per leak rule: whether it could look, at how many units, and how many it found. Rules on
-- items count every candidate, held back or not; rules on the set count strata (source, task and
-- what else the rule splits by) with enough units to say. Without a prompt there is nothing that a
-- structure rule could hold for.
with

rules as (

    select * from {{ ref('leak_rules') }}

),

inputs as (

    select * from {{ ref('int_leak_inputs') }}

),

structure_tests as (

    select
        rule_id,
        string_agg(test, ', ' order by test) as tests
    from {{ ref('leak_structure_tests') }}
    group by rule_id

),

templates as (

    select * from {{ ref('int_templates') }}

),

options as (

    select * from {{ ref('int_leak_options') }}

),

items as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

prompts_counted as (

    select count(*) as n_prompts
    from {{ ref('fct_prompts') }}

),

findings as (

    select * from {{ ref('fct_leak_findings') }}

),

set_results as (

    select * from {{ ref('int_leak_set_results') }}

),

units as (

    select 'template' as scope, task, count(*) as n_units from templates group by task
    union all
    select 'option', task, count(*) from options group by task
    union all
    select 'item', task, count(*) from items group by task

),

units_counted as (

    select
        rules.rule_id,
        sum(units.n_units) as n_checked
    from rules
    inner join units
        on rules.scope = units.scope
        and contains(concat(' ', rules.tasks, ' '), concat(' ', units.task, ' '))
    group by rules.rule_id

),

findings_counted as (

    select
        rule_id,
        count(distinct struct_pack(template_key, item_id, option_key)) as n_found
    from findings
    group by rule_id

),

strata_counted as (

    select
        rule_id,
        count(*) as n_strata,
        count(is_found) as n_checked,
        count(*) filter (where is_found) as n_found,
        max(struct_pack(n, source, task, stratum, evidence)) as largest
    from set_results
    group by rule_id

),

counted as (

    select
        rules.*,
        structure_tests.tests,
        inputs.reason as missing_input,
        prompts_counted.n_prompts,
        strata_counted.largest,
        coalesce(strata_counted.n_strata, 0) as n_strata,
        case
            when rules.kind = 'item' then coalesce(units_counted.n_checked, 0)
            when rules.kind = 'set' then coalesce(strata_counted.n_checked, 0)
            else strata_counted.n_checked
        end as n_checked,
        case
            when rules.kind = 'item' then coalesce(findings_counted.n_found, 0)
            when rules.kind = 'set' then coalesce(strata_counted.n_found, 0)
            else strata_counted.n_found
        end as n_found
    from rules
    cross join prompts_counted
    left join structure_tests
        on rules.rule_id = structure_tests.rule_id
    left join inputs
        on rules.needs = inputs.needs
        and inputs.n_rows = 0
    left join units_counted
        on rules.rule_id = units_counted.rule_id
    left join findings_counted
        on rules.rule_id = findings_counted.rule_id
    left join strata_counted
        on rules.rule_id = strata_counted.rule_id

),

decided as (

    select
        *,
        case
            when kind = 'structure' and tests is null then 'no test'
            when kind = 'structure' and n_prompts = 0 then 'no prompts, as no item is released'
            when kind = 'structure' then tests
            when missing_input is not null then missing_input
            when n_checked = 0 and kind = 'item' then concat('no ', scope, 's of its tasks')
            when n_checked = 0 and n_prompts = 0 then 'no released items'
            when n_checked = 0 and n_strata = 0 then 'nothing to compare among the released items'
            when n_checked = 0 then concat(
                'too few units in each of ', n_strata, ' strata, at most ', largest.n, ' (',
                concat_ws(' ', largest.source, largest.task, largest.stratum),
                ': ' || largest.evidence, ')'
            )
        end as reason
    from counted

),

assessed as (

    select
        *,
        case
            when kind = 'structure' then tests is not null and n_prompts > 0
            else reason is null
        end as is_assessed
    from decided

),

final as (

    select
        ---------- rule
        rule_id,
        name,
        question,
        kind,
        scope,
        tasks,
        policy,

        ---------- result
        is_assessed as assessed,
        reason,
        cast(case when is_assessed then n_checked end as bigint) as n_checked,
        cast(case when is_assessed then n_found end as bigint) as n_found,
        cast(case when is_assessed and n_checked > 0 then n_found / n_checked end as decimal(9, 6))
            as rate,
        allowed_rate
    from assessed

)

select * from final
