-- Which of two models is better, and is the difference more than chance? Paired: on the items that
-- both have answered, over all tasks (rpt_model_differences) and task by task, with intervals that
-- allow for items of one patient and of one answer.
-- Run with: dbt show --select compare_two_models --limit -1
--     --vars "{first_model: <name>, second_model: <name>, mode: choice}"
-- Without the variables it takes the first estimable pair by mode and name. difference is first
-- less second; an interval without 0 tells them apart. only_first and only_second count the items
-- that one of them alone has right. p_holm is adjusted for all pairs of the mode.
with scores as (
    select * from {{ ref('int_headline_scores') }}
),

pairs as (
    select * from {{ ref('rpt_model_differences') }}

    union all

    select
        mode,
        second_model as first_model,
        first_model as second_model,
        n,
        n_asked,
        n_templates,
        n_clusters,
        -difference as difference,
        -difference_high as difference_low,
        -difference_low as difference_high,
        standard_error,
        p_value,
        p_holm,
        n_second_better as n_first_better,
        n_first_better as n_second_better,
        mcnemar_p,
        status
    from {{ ref('rpt_model_differences') }}
),

chosen as (
    select *
    from pairs
    where true
        {%- for column in ['first_model', 'second_model', 'mode'] %}
        {%- if var(column, none) %}
        and {{ column }} = '{{ var(column) | replace("'", "''") }}'
        {%- endif %}
        {%- endfor %}
    order by status = 'estimable' desc, mode, first_model, second_model
    limit 1
),

paired as (
    select
        firsts.task,
        firsts.template_key,
        firsts.person_group,
        coalesce(firsts.answer_cui_id, 0) as answer_cui_id,
        firsts.correct as first_correct,
        seconds.correct as second_correct
    from chosen
    inner join scores as firsts
        on chosen.first_model = firsts.model
        and chosen.mode = firsts.mode
    inner join scores as seconds
        on chosen.second_model = seconds.model
        and chosen.mode = seconds.mode
        and firsts.item_id = seconds.item_id
),

compared as (
    select
        task,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        cast(count(*) as integer) as n,
        cast(sum(first_correct - second_correct) as bigint) * 1000000000000 as value
    from paired
    group by task, template_key, person_group, answer_cui_id
),

{{ figure_intervals('figures', 'compared', ['task'], bounded='false') }},

counted as (
    select
        coalesce(task, 'all') as task,
        count(*) as n_items,
        count(*) filter (where first_correct = 1 and second_correct = 1) as both_right,
        count(*) filter (where first_correct = 1 and second_correct = 0) as only_first,
        count(*) filter (where first_correct = 0 and second_correct = 1) as only_second
    from paired
    group by grouping sets ((task), ())
),

tasks_compared as (
    select
        figures.task,
        figures.n_templates,
        figures.n_persons,
        {{ estimate_status('figures.n_templates') }} as status,
        figures.mean as difference,
        figures.low as difference_low,
        figures.high as difference_high,
        cast(null as decimal(18, 12)) as p_holm
    from figures

    union all

    select
        'all' as task,
        n_templates,
        n_clusters as n_persons,
        status,
        difference,
        difference_low,
        difference_high,
        p_holm
    from chosen
)

select
    chosen.mode,
    tasks_compared.task,
    chosen.first_model,
    chosen.second_model,
    counted.n_items,
    tasks_compared.n_templates,
    tasks_compared.n_persons,
    counted.both_right,
    counted.only_first,
    counted.only_second,
    case when tasks_compared.status = 'estimable'
        then {{ rounded_share('tasks_compared.difference') }} end as difference,
    case when tasks_compared.status = 'estimable'
        then {{ rounded_share('tasks_compared.difference_low') }} end as difference_low,
    case when tasks_compared.status = 'estimable'
        then {{ rounded_share('tasks_compared.difference_high') }} end as difference_high,
    tasks_compared.p_holm,
    tasks_compared.status
from chosen
cross join tasks_compared
left join counted
    on tasks_compared.task = counted.task
order by
    tasks_compared.task = 'all' desc,
    tasks_compared.task
