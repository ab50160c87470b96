-- Runs and items in a balanced table: items that every run has answered.
{#- The most that the variance of a score of 0 or 1 can be. -#}
{%- set most = 0.25 %}

with

requests as (

    select * from {{ ref('int_pooled_requests') }}

),

scores as (

    select * from {{ ref('fct_scores') }}

),

repeated as (

    select
        model,
        mode,
        arm,
        count(distinct repetition) as n_runs_asked,
        row_number() over (order by model, mode, arm) as series
    from requests
    group by
        model,
        mode,
        arm
    having count(distinct repetition) >= 2

),

items_asked as (

    select
        repeated.series,
        requests.item_id
    from requests
    inner join repeated
        on requests.model = repeated.model
        and requests.mode = repeated.mode
        and requests.arm = repeated.arm
    group by
        repeated.series,
        requests.item_id,
        repeated.n_runs_asked
    having count(*) = repeated.n_runs_asked

),

asked as (

    select
        series,
        count(*) as n_asked
    from items_asked
    group by series

),

answers as (

    select
        repeated.series,
        scores.repetition,
        scores.item_id,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        scores.correct,
        case
            when scores.abstained = 1 then 'abstained'
            else coalesce(scores.chosen_option_key, 'none')
        end as choice
    from scores
    inner join repeated
        on scores.model = repeated.model
        and scores.mode = repeated.mode
        and scores.arm = repeated.arm
    semi join items_asked
        on repeated.series = items_asked.series
        and scores.item_id = items_asked.item_id

),

runs_answered as (

    select
        series,
        count(distinct repetition) as n_runs
    from answers
    group by series
    having count(distinct repetition) >= 2

),

items as (

    select
        answers.series,
        answers.item_id,
        answers.template_key,
        answers.person_group,
        answers.answer_cui_id,
        runs_answered.n_runs,
        sum(answers.correct) as n_right,
        count(distinct answers.choice) as n_choices
    from answers
    inner join runs_answered
        on answers.series = runs_answered.series
    group by
        answers.series,
        answers.item_id,
        answers.template_key,
        answers.person_group,
        answers.answer_cui_id,
        runs_answered.n_runs
    having count(*) = runs_answered.n_runs

),

totals as (

    select
        series,
        n_runs,
        count(*) as n,
        cast(sum(n_right) as bigint) as n_right,
        cast(sum(n_right * n_right) as bigint) as squared
    from items
    group by
        series,
        n_runs

),

runs as (

    select
        answers.series,
        answers.repetition,
        cast(sum(answers.correct) as bigint) as n_right
    from answers
    semi join items
        on answers.series = items.series
        and answers.item_id = items.item_id
    group by
        answers.series,
        answers.repetition

),

-- Sums of squares by whole numbers: all of them times n × runs.
squares as (

    select
        totals.*,
        sum(runs.n_right * runs.n_right) as squared_runs
    from totals
    inner join runs
        on totals.series = runs.series
    group by all

),

components as (

    select
        series,
        n,
        n_runs,
        n_right / cast(n * n_runs as double) as accuracy,
        cast(n_runs * squared_runs - n_right * n_right as double) / (n * n_runs) / (n_runs - 1)
            as run_square,
        case when n >= 2 then
            cast(
                n * n_runs * n_right - n * squared - n_runs * squared_runs + n_right * n_right
                as double
            ) / (n * n_runs) / ((n - 1) * (n_runs - 1))
        end as residual_square
    from squares

),

-- Critical values of chi-squared by bisection: each step halves.
limits as (

    select
        degrees.n_runs,
        {%- for side, tail in {
            'low': '1 - ' ~ normal_p(var('interval_z')) ~ ' / 2',
            'high': normal_p(var('interval_z')) ~ ' / 2',
        }.items() %}
        list_reduce(
            cast([
                128.0
                {%- for step in range(1, 64) %}, {{ 128 / 2 ** step }}{% endfor %}
            ] as double[]),
            lambda x, step: x + case
                when {{ chi_squared_p('x', '(degrees.n_runs - 1)') }} > {{ tail }} then step
                else -step
            end
        ) as limit_{{ side }}{{ ',' if not loop.last }}
        {%- endfor %}
    from (select distinct n_runs from components) as degrees

),

-- How an item leans with the runs: what the difference of the runs owes to it.
leans as (

    select
        answers.series,
        answers.item_id,
        sum(cast(round(1e15 * answers.correct * (
            cast(runs.n_right as double) / components.n - components.accuracy
        )) as bigint)) / 1e15 as lean
    from answers
    inner join components
        on answers.series = components.series
    inner join runs
        on answers.series = runs.series
        and answers.repetition = runs.repetition
    group by
        answers.series,
        answers.item_id

),

-- Pseudo-values of the components, see figure_intervals.
items_moved as (

    select
        items.*,
        components.accuracy,
        components.n,
        components.n / nullif(cast((components.n - 1) * (components.n_runs - 1) as double), 0) * (
            items.n_right - items.n_right * items.n_right / cast(items.n_runs as double)
            - 2 * leans.lean
            + (components.n_runs - 1) * components.run_square / components.n
        ) as residual
    from items
    inner join components
        on items.series = components.series
    inner join leans
        on items.series = leans.series
        and items.item_id = leans.item_id

),

figure_rows as (

    {%- for figure, value, condition in [
        ('churn', 'case when n_choices > 1 then 1 else 0 end', 'true'),
        ('accuracy', 'cast(n_right as double) / n_runs', 'true'),
        ('variance_item',
            '(n_runs * n / nullif(cast(n - 1 as double), 0)'
            ~ ' * power(cast(n_right as double) / n_runs - accuracy, 2) - residual) / n_runs',
            'n >= 2'),
        ('variance_residual', 'residual', 'n >= 2'),
    ] %}
    select
        series,
        '{{ figure }}' as figure,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast(round(1e12 * ({{ value }})) as bigint) as value
    from items_moved
    where {{ condition }}
    {{ 'union all' if not loop.last }}
    {%- endfor %}

),

{{ figure_intervals('means_found', 'figure_rows', ['series', 'figure'],
    "means.figure in ('churn', 'accuracy')", '0.0', most) }},

-- The mean of squares of the runs over its limits; no interval where the runs agree throughout.
runs_spread as (

    select
        components.series,
        components.n,
        components.run_square,
        components.residual_square,
        case when components.run_square > 0
            then components.run_square * (components.n_runs - 1) / limits.limit_high
        end as square_low,
        case when components.run_square > 0
            then components.run_square * (components.n_runs - 1) / limits.limit_low
        end as square_high
    from components
    inner join limits
        on components.n_runs = limits.n_runs

),

figures as (

    select
        series,
        figure,
        mean,
        low,
        high
    from means_found

    union all

    select
        series,
        'accuracy_sd' as figure,
        sqrt(run_square / n) as mean,
        sqrt(square_low / n) as low,
        case when square_high is not null
            then sqrt(greatest(run_square / n, least({{ most }}, square_high / n)))
        end as high
    from runs_spread

    union all

    select
        series,
        'variance_run' as figure,
        (run_square - residual_square) / n as mean,
        case when square_low is not null and residual_square is not null
            then least(
                (run_square - residual_square) / n,
                greatest(0.0, (square_low - residual_square) / n)
            )
        end as low,
        case when square_high is not null and residual_square is not null
            then greatest(
                (run_square - residual_square) / n,
                least({{ most }}, (square_high - residual_square) / n)
            )
        end as high
    from runs_spread

),

counted as (

    select
        series,
        count(*) as n,
        max(n_runs) as n_runs,
        count(distinct template_key) as n_templates,
        count(distinct person_group) as n_persons
    from items
    group by series

),

final as (

    select
        ---------- ids
        repeated.model,
        repeated.mode,
        repeated.arm,
        names.figure,

        ---------- counts
        cast(coalesce(counted.n_runs, 0) as integer) as n_runs,
        cast(repeated.n_runs_asked as integer) as n_runs_asked,
        cast(coalesce(counted.n, 0) as integer) as n,
        cast(coalesce(asked.n_asked, 0) as integer) as n_asked,
        cast(coalesce(counted.n_templates, 0) as integer) as n_templates,
        cast(coalesce(counted.n_persons, 0) as integer) as n_clusters,

        ---------- figure
        {%- for column, name in {
            'mean': 'estimate', 'low': 'estimate_low', 'high': 'estimate_high'
        }.items() %}
        case when {{ estimate_status('counted.n_templates') }} = 'estimable' then
            {{ rounded_share('figures.' ~ column) }}
        end as {{ name }},
        {%- endfor %}
        {{ estimate_status('counted.n_templates') }} as status
    from repeated
    cross join (values
        ('churn'), ('accuracy'), ('accuracy_sd'), ('variance_item'), ('variance_run'),
        ('variance_residual')
    ) as names (figure)
    left join asked
        on repeated.series = asked.series
    left join counted
        on repeated.series = counted.series
    left join figures
        on repeated.series = figures.series
        and names.figure = figures.figure

)

select * from final
