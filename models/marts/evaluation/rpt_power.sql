-- Planning after Miller: a difference of (z of the level + z of the power) standard errors is found
-- with that power.
{%- set z = var('interval_z') + var('evaluation_power_z') %}
{%- set correlation = var('evaluation_cluster_correlation') %}
{%- set declared = var('evaluation_detectable_difference') %}

with

subset as (

    select * from {{ ref('int_subset_templates') }}

),

differences as (

    select * from {{ ref('rpt_model_differences') }}
    where status = 'estimable'
        and standard_error > 0

),

templates as (

    select
        task,
        template_key,
        person_group,
        coalesce(answer_cui_id, 0) as answer_cui_id
    from subset
    group by
        task,
        template_key,
        person_group,
        answer_cui_id

),

tasks as (

    select
        task,
        count(*) as n_templates,
        count(distinct person_group) as n_clusters
    from templates
    group by task

),

{%- for kind, keys in {
    'persons': 'person_group', 'answers': 'answer_cui_id', 'pairs': 'person_group, answer_cui_id'
}.items() %}

{{ kind }} as (

    select
        task,
        sum(n_templates * n_templates) as squares
    from (
        select
            task,
            {{ keys }},
            count(*) as n_templates
        from templates
        group by task, {{ keys }}
    )
    group by task

),
{%- endfor %}

-- Two templates correlate when they share a person or an answer concept.
task_variances as (

    select
        tasks.task,
        tasks.n_templates,
        tasks.n_clusters,
        1 + {{ correlation }} * (
            (persons.squares + answers.squares - pairs.squares) / tasks.n_templates - 1
        ) as design_effect
    from tasks
    inner join persons
        on tasks.task = persons.task
    inner join answers
        on tasks.task = answers.task
    inner join pairs
        on tasks.task = pairs.task

),

subset_tasks as (

    select * from task_variances
    where n_templates >= {{ var('evaluation_min_templates') }}

),

-- overall: the plain mean of the tasks that count, so their variances weigh alike.
scopes as (

    select
        task as scope,
        'assumed' as basis,
        n_templates,
        n_clusters,
        design_effect,
        sqrt({{ var('evaluation_difference_variance') }} * design_effect / n_templates)
            as standard_error
    from task_variances

    union all

    select
        'overall' as scope,
        'assumed' as basis,
        coalesce(sum(n_templates), 0) as n_templates,
        (
            select count(distinct templates.person_group)
            from templates
            semi join subset_tasks
                on templates.task = subset_tasks.task
        ) as n_clusters,
        sum(cast(design_effect / n_templates as decimal(18, 15)))
            / sum(cast(1 / n_templates as decimal(18, 15))) as design_effect,
        sqrt({{ var('evaluation_difference_variance') }}
            * cast(sum(cast(design_effect / n_templates as decimal(18, 15))) as double))
            / count(*) as standard_error
    from subset_tasks

    union all

    select
        'overall' as scope,
        'measured' as basis,
        coalesce(quantile_disc(n_templates, 0.5), 0) as n_templates,
        cast(null as bigint) as n_clusters,
        cast(null as double) as design_effect,
        quantile_disc(cast(standard_error as double), 0.5) as standard_error
    from differences

),

planned as (

    select
        *,
        {{ z }} * standard_error as detectable_difference,
        cast({{ declared if declared is not none else 'null' }} as double) as declared_difference
    from scopes

),

power as (

    select
        ---------- ids
        cast(scope as varchar) as scope,
        cast(basis as varchar) as basis,

        ---------- subset
        cast(n_templates as integer) as n_templates,
        cast(n_clusters as integer) as n_clusters,
        cast(round(design_effect, 4) as decimal(12, 4)) as design_effect,
        cast(round(n_templates / design_effect, 1) as decimal(12, 1)) as n_effective,

        ---------- power
        {{ rounded_share('standard_error') }} as standard_error,
        {{ rounded_share('detectable_difference') }} as detectable_difference,
        {{ rounded_share('declared_difference') }} as declared_difference,
        cast(ceil(round(
            n_templates * power(detectable_difference / declared_difference, 2), 6
        )) as integer) as n_needed,
        case
            when declared_difference is null then 'not_declared'
            when detectable_difference <= declared_difference then 'sufficient'
            else 'insufficient'
        end as status
    from planned

)

select * from power
