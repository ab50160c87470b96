{#- Rows of a set rule from lifts of surface baselines, one per source × task × pick (and model). A
    lift is found when its interval (set_rule_z) leaves out zero and it is above set_rule_max_lift.
    `evidence` is SQL over the columns of rpt_surface_baselines. -#}
{% macro baseline_lift_results(rule_id, baseline, evidence=none) -%}
{%- set z = var('set_rule_z') -%}
{%- set evidence = evidence or "concat('accuracy ', accuracy, ', chance ', chance)" -%}
lifts as (

    select
        *,
        lift - {{ z }} * standard_error as low,
        lift + {{ z }} * standard_error as high
    from baselines
    where baseline = '{{ baseline }}'
        and draw = 'all'
        and n_options is null
        and source <> 'all'
        and task <> 'all'

),

results as (

    select
        cast('{{ rule_id }}' as varchar) as rule_id,
        source,
        task,
        cast(concat_ws(', ', pick, model) as varchar) as stratum,
        cast(n as bigint) as n,
        cast(lift as decimal(18, 6)) as statistic,
        cast(low as decimal(18, 6)) as low,
        cast(high as decimal(18, 6)) as high,
        cast({{ var('set_rule_max_lift') }} as decimal(18, 6)) as allowed,
        case
            when n >= {{ var('set_rule_min_templates') }} and standard_error > 0
                then abs(lift) > {{ var('set_rule_max_lift') }} and (low > 0 or high < 0)
        end as is_found,
        cast({{ evidence }} as varchar) as evidence
    from lifts

)
{%- endmacro %}
