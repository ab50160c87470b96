-- Does a surface baseline do better under one wording of the question than over all wordings? One
-- option count per template. Baselines that read no question differ only where the wordings were
-- released for different templates.
{%- set z = var('set_rule_z') %}
with

baseline_results as (

    select * from {{ ref('int_baseline_results') }}
    where is_pooled

),

templates as (

    select * from {{ ref('int_surface_templates') }}
    where is_drawn

),

wordings as (

    select distinct
        template_key,
        n_options,
        variant
    from {{ ref('dim_items') }}
    where released
        and format = 'mcq'

),

worded as (

    select
        baseline_results.baseline,
        baseline_results.pick,
        baseline_results.model,
        baseline_results.task,
        wordings.variant,
        baseline_results.person_group,
        baseline_results.answer_cui_id,
        baseline_results.n,
        baseline_results.points - baseline_results.chance_points as value
    from baseline_results
    inner join templates
        on baseline_results.template_key = templates.template_key
        and baseline_results.n_options = templates.n_options
    inner join wordings
        on baseline_results.template_key = wordings.template_key
        and baseline_results.n_options = wordings.n_options
        and coalesce(baseline_results.variant, wordings.variant) = wordings.variant

),

-- Integer handles: strata are joined and grouped many times below.
named as (

    select
        baseline,
        pick,
        model,
        task,
        variant,
        row_number() over (order by baseline, pick, model, task, variant) as stratum
    from worded
    group by
        baseline,
        pick,
        model,
        task,
        variant

),

numbered as (

    select
        named.stratum,
        worded.person_group,
        worded.answer_cui_id,
        worded.n,
        worded.value
    from worded
    inner join named
        on worded.baseline = named.baseline
        and worded.pick = named.pick
        and worded.model is not distinct from named.model
        and worded.task = named.task
        and worded.variant = named.variant

),

{{ two_way_error('lifts', 'numbered', ['stratum']) }},

compared as (

    select
        named.*,
        lifts.n,
        lifts.n_persons,
        lifts.mean,
        lifts.standard_error,
        sum(lifts.mean * lifts.n) over (
            partition by named.baseline, named.pick, named.model, named.task
        ) / sum(lifts.n) over (
            partition by named.baseline, named.pick, named.model, named.task
        ) as overall
    from lifts
    inner join named
        on lifts.stratum = named.stratum

),

results as (

    select
        cast('L40' as varchar) as rule_id,
        cast('all' as varchar) as source,
        task,
        cast(concat_ws(' ', baseline, pick, model, concat('wording ', variant)) as varchar)
            as stratum,
        cast(n as bigint) as n,
        cast(mean - overall as decimal(18, 6)) as statistic,
        cast(mean - overall - {{ z }} * standard_error as decimal(18, 6)) as low,
        cast(mean - overall + {{ z }} * standard_error as decimal(18, 6)) as high,
        cast({{ var('set_rule_max_lift') }} as decimal(18, 6)) as allowed,
        case
            when n >= {{ var('set_rule_min_templates') }} and n_persons >= 2
                then mean - overall > {{ var('set_rule_max_lift') }}
                    and mean - overall > {{ z }} * standard_error
        end as is_found,
        cast(concat('lift ', round(mean, 3), ', over all wordings ', round(overall, 3)) as varchar)
            as evidence
    from compared

)

select * from results
