-- Do surface baselines win? A family of gates fixed by seed, on the lift over all sources and
-- option counts with one item per template. Each task is judged once there are enough templates for
-- that, all tasks together before.
with

gates as (

    select * from {{ ref('surface_baselines') }}
    where gate in ('fail', 'warn')

),

baselines as (

    select * from {{ ref('rpt_surface_baselines') }}
    where source = 'all'
        and draw = 'all'
        and n_options is null

),

templates as (

    select
        task,
        draw
    from {{ ref('int_surface_templates') }}
    where is_drawn
        and is_pooled

),

templates_counted as (

    select
        task,
        count(*) as n_templates,
        count(*) filter (where draw = 'weighted') as n_weighted
    from templates
    group by task

    union all

    select
        'all' as task,
        count(*) as n_templates,
        count(*) filter (where draw = 'weighted') as n_weighted
    from templates

),

all_templates as (

    select n_templates
    from templates_counted
    where task = 'all'

),

judged as (

    select
        gates.baseline,
        gates.pick,
        gates.gate,
        baselines.model,
        templates_counted.task,
        templates_counted.n_templates,
        templates_counted.n_weighted,
        baselines.n,
        baselines.n_clusters,
        baselines.n_answers,
        baselines.lift,
        baselines.lift_low,
        baselines.lift_high,
        baselines.standard_error,
        case
            when baselines.baseline is null then 'no_rows'
            when all_templates.n_templates < {{ var('surface_gate_min_templates') }}
                then 'too_few_templates'
            when templates_counted.task = 'all'
                and all_templates.n_templates >= {{ var('surface_gate_min_templates_by_task') }}
                then 'judged_by_task'
            when templates_counted.task <> 'all'
                and all_templates.n_templates < {{ var('surface_gate_min_templates_by_task') }}
                then 'judged_over_all_tasks'
            when baselines.n < {{ var('surface_gate_min_task_templates') }}
                then 'too_few_templates'
            when coalesce(baselines.standard_error, 0) = 0 then 'no_error'
        end as reason
    from gates
    cross join templates_counted
    cross join all_templates
    left join baselines
        on gates.baseline = baselines.baseline
        and gates.pick = baselines.pick
        and templates_counted.task = baselines.task

),

with_p as (

    select
        *,
        case when reason is null then
            cast(round({{ normal_p('(lift / standard_error)') }}, 6) as decimal(9, 6))
        end as p_value
    from judged

),

{{ holm_steps('adjusted', 'with_p', ['gate'], 'p_value', 'baseline, pick, model, task') }},

final as (

    select
        ---------- ids
        baseline,
        pick,
        model,
        task,

        ---------- verdict
        gate,
        case
            when reason is not null then 'not_assessed'
            when abs(lift) > {{ var('surface_gate_max_lift') }} then gate
            when abs(lift) > {{ var('surface_gate_clear_lift') }}
                and p_holm < {{ var('surface_gate_p') }} then gate
            else 'pass'
        end as status,
        reason,

        ---------- counts
        cast(n_templates as integer) as n_templates,
        cast(n_weighted as integer) as n_weighted,
        coalesce(n, 0) as n,
        coalesce(n_clusters, 0) as n_clusters,
        coalesce(n_answers, 0) as n_answers,

        ---------- figures
        lift,
        lift_low,
        lift_high,
        standard_error,
        p_value,
        cast(p_holm as decimal(9, 6)) as p_holm
    from adjusted

)

select * from final
