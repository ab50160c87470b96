-- Ranks of the models of a mode, and how far they move when persons are drawn anew (Poisson
-- bootstrap). Grain: one row per model × mode with headline scores. `rank` is by overall;
-- average_rank is the mean rank over the columns of the paper: per source the accuracies by task
-- and option count, by task, and the mean of the tasks. Ranks drawn anew are nearer to the
-- middle, so an interval is widened to hold the rank itself.
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

figures as (

    select * from {{ ref('int_leaderboard_figures') }}
    where figure = 'overall'
        and status = 'estimable'

),

subset as (

    select * from {{ ref('int_subset_templates') }}

),

series as (

    select
        model,
        mode,
        dense_rank() over (order by mode) as mode_number,
        row_number() over (order by model, mode) as series
    from scores
    group by
        model,
        mode

),

cells_named as (

    select
        source,
        task,
        n_options,
        row_number() over (order by source, task, n_options) as cell
    from scores
    group by
        source,
        task,
        n_options

),

-- The first cell stands for its task and for its source.
cells as (

    select
        *,
        min(cell) over (partition by source, task) as task_cell,
        min(cell) over (partition by source) as source_cell
    from cells_named

),

templates as (

    select
        series.series,
        cells.cell,
        scores.template_key,
        scores.person_group,
        count(*) as n,
        sum(scores.correct) as hits
    from scores
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    inner join cells
        on scores.source = cells.source
        and scores.task = cells.task
        and scores.n_options = cells.n_options
    group by
        series.series,
        cells.cell,
        scores.template_key,
        scores.person_group

),

-- A mean of tasks is that of the tasks that the subset can estimate.
subset_tasks as (

    select task
    from subset
    group by task
    having {{ estimate_status('count(distinct template_key)') }} = 'estimable'

),

source_tasks as (

    select
        cells.task_cell,
        count(*) over (partition by cells.source_cell) as n_tasks
    from subset
    inner join cells
        on subset.source = cells.source
        and subset.task = cells.task
        and subset.n_options = cells.n_options
    group by
        cells.task_cell,
        cells.source_cell
    having {{ estimate_status('count(distinct subset.template_key)') }} = 'estimable'

),

estimable_cells as (

    select
        series,
        cell
    from templates
    group by
        series,
        cell
    having {{ estimate_status('count(*)') }} = 'estimable'

),

estimable_tasks as (

    select
        templates.series,
        cells.task_cell,
        cells.source_cell
    from templates
    inner join cells
        on templates.cell = cells.cell
    group by
        templates.series,
        cells.task_cell,
        cells.source_cell
    having {{ estimate_status('count(distinct templates.template_key)') }} = 'estimable'

),

estimable_sources as (

    select
        estimable_tasks.series,
        estimable_tasks.source_cell
    from estimable_tasks
    inner join source_tasks
        on estimable_tasks.task_cell = source_tasks.task_cell
    group by
        estimable_tasks.series,
        estimable_tasks.source_cell
    having count(*) = max(source_tasks.n_tasks)

),

{{ bootstrap_sums('sums', 'templates', ['series', 'cell']) }},

task_sums as (

    select
        sums.replicate,
        sums.series,
        cells.task_cell,
        cells.source_cell,
        cells.task,
        sum(sums.hits) as hits,
        sum(sums.n) as n
    from sums
    inner join cells
        on sums.cell = cells.cell
    group by
        sums.replicate,
        sums.series,
        cells.task_cell,
        cells.source_cell,
        cells.task

),

-- Rounded, so that models that tie do. A replicate may draw nobody of a cell.
column_values as (

    select
        sums.replicate,
        sums.series,
        'cell' as level,
        sums.cell,
        round(cast(sums.hits as double) / nullif(sums.n, 0), 12) as value
    from sums
    semi join estimable_cells
        on sums.series = estimable_cells.series
        and sums.cell = estimable_cells.cell

    union all

    select
        task_sums.replicate,
        task_sums.series,
        'task' as level,
        task_sums.task_cell as cell,
        round(cast(task_sums.hits as double) / nullif(task_sums.n, 0), 12) as value
    from task_sums
    semi join estimable_tasks
        on task_sums.series = estimable_tasks.series
        and task_sums.task_cell = estimable_tasks.task_cell

    union all

    select
        task_sums.replicate,
        task_sums.series,
        'source' as level,
        task_sums.source_cell as cell,
        case when min(task_sums.n) > 0 then
            round(sum(cast(task_sums.hits as double) / task_sums.n) / count(*), 12)
        end as value
    from task_sums
    semi join estimable_sources
        on task_sums.series = estimable_sources.series
        and task_sums.source_cell = estimable_sources.source_cell
    semi join source_tasks
        on task_sums.task_cell = source_tasks.task_cell
    group by
        task_sums.replicate,
        task_sums.series,
        task_sums.source_cell

),

column_ranks as (

    select
        column_values.replicate,
        column_values.series,
        rank() over (
            partition by
                column_values.replicate,
                series.mode_number,
                column_values.level,
                column_values.cell
            order by column_values.value desc
        ) as rank
    from column_values
    inner join series
        on column_values.series = series.series
    where column_values.value is not null

),

average_ranks as (

    select
        replicate,
        series,
        count(*) as n_columns,
        cast(sum(rank) as double) / count(*) as average_rank
    from column_ranks
    group by
        replicate,
        series

),

pooled_tasks as (

    select
        task_sums.replicate,
        task_sums.series,
        task_sums.task,
        sum(task_sums.hits) as hits,
        sum(task_sums.n) as n
    from task_sums
    semi join subset_tasks
        on task_sums.task = subset_tasks.task
    group by
        task_sums.replicate,
        task_sums.series,
        task_sums.task

),

overalls as (

    select
        pooled_tasks.replicate,
        pooled_tasks.series,
        series.mode,
        round(sum(cast(pooled_tasks.hits as double) / pooled_tasks.n) / count(*), 12) as value
    from pooled_tasks
    inner join series
        on pooled_tasks.series = series.series
    semi join figures
        on series.model = figures.model
        and series.mode = figures.mode
    group by
        pooled_tasks.replicate,
        pooled_tasks.series,
        series.mode
    having min(pooled_tasks.n) > 0

),

ranks as (

    select
        replicate,
        series,
        value,
        rank() over (partition by replicate, mode order by value desc) as rank
    from overalls

),

ranks_spread as (

    select
        series,
        max(rank) filter (where replicate = 0) as rank,
        quantile_disc(rank, {{ var('bootstrap_tail') }}) filter (where replicate > 0) as rank_low,
        quantile_disc(rank, 1 - {{ var('bootstrap_tail') }}) filter (where replicate > 0)
            as rank_high,
        cast(count(*) filter (where replicate > 0 and rank = 1) as double)
            / nullif(count(*) filter (where replicate > 0), 0) as p_best,
        stddev_samp(value) filter (where replicate > 0) as standard_error
    from ranks
    group by series

),

average_ranks_spread as (

    select
        series,
        max(n_columns) filter (where replicate = 0) as n_columns,
        max(average_rank) filter (where replicate = 0) as average_rank,
        quantile_disc(average_rank, {{ var('bootstrap_tail') }}) filter (where replicate > 0)
            as average_rank_low,
        quantile_disc(average_rank, 1 - {{ var('bootstrap_tail') }}) filter (where replicate > 0)
            as average_rank_high
    from average_ranks
    group by series

),

final as (

    select
        ---------- ids
        series.model,
        series.mode,

        ---------- rank by overall
        cast(ranks_spread.rank as integer) as rank,
        cast(least(ranks_spread.rank, ranks_spread.rank_low) as integer) as rank_low,
        cast(greatest(ranks_spread.rank, ranks_spread.rank_high) as integer) as rank_high,
        {{ rounded_share('ranks_spread.p_best') }} as p_best,
        {{ rounded_share('ranks_spread.standard_error') }} as bootstrap_error,

        ---------- mean rank over the columns
        cast(average_ranks_spread.n_columns as integer) as n_rank_columns,
        {% for column, expression in {
            'average_rank': 'average_ranks_spread.average_rank',
            'average_rank_low': 'least(average_ranks_spread.average_rank, '
                'average_ranks_spread.average_rank_low)',
            'average_rank_high': 'greatest(average_ranks_spread.average_rank, '
                'average_ranks_spread.average_rank_high)',
        }.items() -%}
        cast(round({{ expression }}, 6) as decimal(12, 6)) as {{ column }}
        {{- ',' if not loop.last }}
        {% endfor %}
    from series
    left join ranks_spread
        on series.series = ranks_spread.series
    left join average_ranks_spread
        on series.series = average_ranks_spread.series

)

select * from final
