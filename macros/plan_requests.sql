{#- CTEs `plan` and `planned`: the prompts of a CTE × the enabled rows of run_plan for this target
    and stage, with their keys. `max_requests` takes prompts in the md5 order of `draw_key`, round
    robin over `task_column` and within a task over `form_columns`, so that a small plan still asks
    every task and form. The order does not depend on model or mode: all of them see the same
    prompts. With `arm_column` a plan row asks the prompts of its own arm (an empty one is
    `standard`), and each arm is ranked by itself. The dbt model needs CTEs named models and
    run_plan. `carry` are further columns of the prompts. -#}
{% macro plan_requests(prompts, stage, task_column, form_columns=[], carry=[],
    draw_key='prompt_key', arm_column=none) -%}
{%- set arm_columns = [arm_column] if arm_column else [] -%}
{%- set cell_columns = [task_column] + form_columns -%}
plan as (

    select
        run_plan.model,
        run_plan.mode,
        coalesce(run_plan.arm, 'standard') as arm,
        run_plan.repetition,
        run_plan.max_requests,
        run_plan.max_attempts,
        models.revision,
        models.engine,
        models.chat_template,
        cast(json_extract(models.sampling, concat('$.', run_plan.mode)) as varchar) as sampling
    from run_plan
    inner join models
        on run_plan.model = models.model
    where run_plan.target = '{{ var('plan_target', target.name) }}'
        and run_plan.stage = '{{ stage }}'
        and run_plan.enabled

),

prompts_drawn as (

    select
        *,
        row_number() over (
            partition by {{ (arm_columns + cell_columns) | join(', ') }}
            order by md5(concat('{{ var('plan_seed') }}|', {{ draw_key }})), prompt_key
        ) as rank_in_cell
    from {{ prompts }}

),

prompts_in_task as (

    select
        *,
        row_number() over (
            partition by {{ (arm_columns + [task_column]) | join(', ') }}
            order by rank_in_cell, {{ cell_columns | join(', ') }}
        ) as rank_in_task
    from prompts_drawn

),

prompts_ranked as (

    select
        *,
        cast(row_number() over (
            {%- if arm_column %}
            partition by {{ arm_column }}
            {%- endif %}
            order by rank_in_task, {{ task_column }}
        ) as integer) as plan_rank
    from prompts_in_task

),

planned as (

    select
        {{ key(['prompts_ranked.prompt_key', 'plan.model', 'plan.revision', 'plan.chat_template',
            'plan.mode', 'plan.sampling', 'plan.repetition']) }} as request_key,
        '{{ stage }}' as stage,
        prompts_ranked.prompt_key,
        plan.model,
        plan.revision,
        plan.engine,
        plan.mode,
        plan.repetition,
        plan.sampling,
        plan.max_attempts,
        {%- for column in carry %}
        prompts_ranked.{{ column }},
        {%- endfor %}
        prompts_ranked.plan_rank
    from plan
    inner join prompts_ranked
        -- No cap stands for the largest integer.
        on prompts_ranked.plan_rank <= coalesce(plan.max_requests, 2147483647)
        {%- if arm_column %}
        and prompts_ranked.{{ arm_column }} = plan.arm
        {%- endif %}

)
{%- endmacro %}
