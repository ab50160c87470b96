{#- CTEs `plan` and `planned`: the prompts of a CTE × the enabled rows of run_plan for this target
    and stage, with their keys. `max_requests` takes prompts in the md5 order of `draw_key`, round
    robin over `task_column` and within a task over `form_columns`, so that a small plan still asks
    every task and form. The order does not depend on model or mode: all of them see the same
    prompts. A plan row asks the prompts that agree with it in `match`, columns of the plan with
    the value that an empty one stands for; the prompts of each such kind are ranked by themselves.
    The dbt model needs CTEs named models and run_plan. `carry` are further columns of the
    prompts. -#}
{% macro plan_requests(prompts, stage, task_column, form_columns=[], carry=[],
    draw_key='prompt_key', match={}) -%}
{%- set cell_columns = [task_column] + form_columns -%}
{%- set kind_columns = match.keys() | list -%}
plan as (

    select
        run_plan.model,
        run_plan.mode,
        {%- for column, default in match.items() %}
        coalesce(run_plan.{{ column }}, '{{ default }}') as {{ column }},
        {%- endfor %}
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
            partition by {{ (kind_columns + cell_columns) | join(', ') }}
            order by md5(concat('{{ var('plan_seed') }}|', {{ draw_key }})), prompt_key
        ) as rank_in_cell
    from {{ prompts }}

),

prompts_in_task as (

    select
        *,
        row_number() over (
            partition by {{ (kind_columns + [task_column]) | join(', ') }}
            order by rank_in_cell, {{ cell_columns | join(', ') }}
        ) as rank_in_task
    from prompts_drawn

),

prompts_ranked as (

    select
        *,
        cast(row_number() over (
            {%- if match %}
            partition by {{ kind_columns | join(', ') }}
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
        plan.chat_template,
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
        {%- for column in kind_columns %}
        and prompts_ranked.{{ column }} = plan.{{ column }}
        {%- endfor %}

)
{%- endmacro %}
