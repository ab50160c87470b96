{#- CTEs `plan` and `planned`: the prompts of a CTE × the enabled rows of run_plan for this target
    and stage, with their keys. Units (`draw_key`: what is asked, in however many arms) are ranked
    once per `kind_columns`, by `first` (columns, false before true) and the md5 of their key, round
    robin over `task_column` and within a task over `form_columns`, so that a small plan still asks
    every task and form. `max_requests` takes the prompts of that many first units, as far as a unit
    has a prompt that agrees with the plan row in `match` (columns of the plan with the value that
    an empty one stands for): models, modes and arms see the same units. The dbt model needs CTEs
    named models and run_plan. `carry` are further columns of the prompts. -#}
{% macro plan_requests(prompts, stage, task_column, form_columns=[], carry=[],
    draw_key='prompt_key', match={}, kind_columns=[], first=[]) -%}
{%- set cell_columns = [task_column] + form_columns -%}
{%- set unit_columns = [draw_key] + kind_columns + cell_columns -%}
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

units as (

    select distinct {{ (unit_columns + first) | unique | join(', ') }}
    from {{ prompts }}

),

units_drawn as (

    select
        *,
        row_number() over (
            partition by {{ (kind_columns + cell_columns) | join(', ') }}
            order by
                {%- for column in first %}
                {{ column }},
                {%- endfor %}
                md5(concat('{{ var('plan_seed') }}|', {{ draw_key }})),
                {{ draw_key }}
        ) as rank_in_cell
    from units

),

units_in_task as (

    select
        *,
        row_number() over (
            partition by {{ (kind_columns + [task_column]) | join(', ') }}
            order by {{ (first + ['rank_in_cell'] + cell_columns) | join(', ') }}
        ) as rank_in_task
    from units_drawn

),

units_ranked as (

    select
        *,
        cast(row_number() over (
            {%- if kind_columns %}
            partition by {{ kind_columns | join(', ') }}
            {%- endif %}
            order by {{ (first + ['rank_in_task', task_column]) | join(', ') }}
        ) as integer) as plan_rank
    from units_in_task

),

planned as (

    select
        {{ key(['prompts.prompt_key', 'plan.model', 'plan.revision', 'plan.chat_template',
            'plan.mode', 'plan.sampling', 'plan.repetition']) }} as request_key,
        '{{ stage }}' as stage,
        prompts.prompt_key,
        plan.model,
        plan.revision,
        plan.engine,
        plan.chat_template,
        plan.mode,
        plan.repetition,
        plan.sampling,
        plan.max_attempts,
        {%- for column in carry %}
        prompts.{{ column }},
        {%- endfor %}
        units_ranked.plan_rank
    from plan
    inner join units_ranked
        -- No cap stands for the largest integer.
        on units_ranked.plan_rank <= coalesce(plan.max_requests, 2147483647)
    inner join {{ prompts }} as prompts
        on {% for column in unit_columns -%}
        units_ranked.{{ column }} is not distinct from prompts.{{ column }}
        {%- if not loop.last %}
        and {% endif %}
        {%- endfor %}
        {%- for column in match %}
        and prompts.{{ column }} = plan.{{ column }}
        {%- endfor %}

)
{%- endmacro %}
