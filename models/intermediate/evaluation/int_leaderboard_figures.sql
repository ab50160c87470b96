-- Every accuracy of the leaderboard, one row each. A figure is the plain mean of its cells: the
-- tasks, so that no task weighs more for having more items.
{%- set tasks = ['dx', 'tx', 'px'] %}
{%- set option_counts = [4, 5, 6] %}

with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

headline_asked as (

    select * from {{ ref('int_headline_asked') }}

),

subset as (

    select * from {{ ref('int_subset_templates') }}

),

asked as (

    select
        model,
        mode,
        row_number() over (order by model, mode) as series
    from headline_asked
    group by
        model,
        mode

),

persons as (

    select
        person_group,
        row_number() over (order by person_group) as person
    from scores
    group by person_group

),

templates as (

    select
        template_key,
        row_number() over (order by template_key) as template
    from scores
    group by template_key

),

-- Integer handles: the rows below are grouped many times.
answers as (

    select
        asked.series,
        scores.task,
        scores.n_options,
        templates.template,
        persons.person as person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        count(*) as n,
        cast(sum(scores.correct) as bigint) as n_correct,
        cast(sum(scores.parsed) as bigint) as n_parsed
    from scores
    inner join asked
        on scores.model = asked.model
        and scores.mode = asked.mode
    inner join persons
        on scores.person_group = persons.person_group
    inner join templates
        on scores.template_key = templates.template_key
    group by
        asked.series,
        scores.task,
        scores.n_options,
        templates.template,
        persons.person,
        scores.answer_cui_id

),

-- With n_options null: all option counts. Above blind guessing a right answer is worth 1 and a
-- wrong one -1 / (k - 1), in billionths.
answers_summed as (

    select
        series,
        task,
        n_options,
        person_group,
        answer_cui_id,
        cast(sum(n) as bigint) as n,
        cast(sum(n_correct) as bigint) as n_correct,
        cast(sum(n_parsed) as bigint) as n_parsed,
        cast(sum((n_correct * n_options - n) * 1000000000 // (n_options - 1)) as bigint)
            as above_chance
    from answers
    group by grouping sets (
        (series, task, person_group, answer_cui_id),
        (series, task, n_options, person_group, answer_cui_id)
    )

),

templates_counted as (

    select
        series,
        task,
        n_options,
        cast(sum(n) as bigint) as n,
        cast(sum(n_parsed) as bigint) as n_parsed,
        count(distinct template) as n_templates,
        count(distinct template) filter (where n_parsed > 0) as n_parsed_templates
    from answers
    group by grouping sets (
        (series, task),
        (series, task, n_options)
    )

),

figures (figure, figure_number, task, cell, n_options) as (

    {%- for task in tasks %}
    {%- set cell = loop.index %}
    select 'overall', 1, '{{ task }}', {{ cell }}, null
    union all
    select '{{ task }}', {{ 1 + cell }}, '{{ task }}', {{ cell }}, null
    union all
    {%- for k in option_counts %}
    select 'acc_{{ k }}', {{ 4 + loop.index }}, '{{ task }}', {{ cell }}, {{ k }}
    union all
    {%- endfor %}
    select 'parse_failure_rate', 8, '{{ task }}', 0, null
    union all
    select 'chance_corrected', 9, '{{ task }}', {{ cell }}, null
    union all
    select 'valid_only', 10, '{{ task }}', {{ cell }}, null
    {{- ' union all' if not loop.last }}
    {%- endfor %}

),

-- Cells that the subset can estimate: the others are no part of a figure, whoever answers them.
subset_counted as (

    select
        figures.figure_number,
        figures.cell,
        count(distinct subset.template_key) as n_templates
    from figures
    inner join subset
        on figures.task = subset.task
        and coalesce(figures.n_options, subset.n_options) = subset.n_options
    group by
        figures.figure_number,
        figures.cell

),

wanted as (

    select
        figure_number,
        cell,
        count(*) over (partition by figure_number) as n_cells
    from subset_counted
    where {{ estimate_status('n_templates') }} = 'estimable'

),

cells as (

    select
        answers.series,
        figures.figure_number,
        figures.cell,
        answers.person_group,
        answers.answer_cui_id,
        case figures.figure_number
            when 10 then answers.n_parsed
            else answers.n
        end as n,
        case figures.figure_number
            when 8 then (answers.n - answers.n_parsed) * 1000000000
            when 9 then answers.above_chance
            else answers.n_correct * 1000000000
        end as value
    from answers_summed as answers
    inner join figures
        on answers.task = figures.task
        and answers.n_options is not distinct from figures.n_options
    semi join wanted
        on figures.figure_number = wanted.figure_number
        and figures.cell = wanted.cell
    where figures.figure_number <> 10
        or answers.n_parsed > 0

),

cells_counted as (

    select
        counted.series,
        figures.figure_number,
        figures.cell,
        sum(
            case figures.figure_number when 10 then counted.n_parsed else counted.n end
        ) as n,
        sum(
            case figures.figure_number
                when 10 then counted.n_parsed_templates
                else counted.n_templates
            end
        ) as n_templates
    from templates_counted as counted
    inner join figures
        on counted.task = figures.task
        and counted.n_options is not distinct from figures.n_options
    semi join wanted
        on figures.figure_number = wanted.figure_number
        and figures.cell = wanted.cell
    group by
        counted.series,
        figures.figure_number,
        figures.cell

),

figures_counted as (

    select
        series,
        figure_number,
        sum(n) as n,
        sum(n_templates) as n_templates,
        count(*) filter (
            where {{ estimate_status('n_templates') }} = 'estimable'
        ) as n_estimable
    from cells_counted
    group by
        series,
        figure_number

),

figures_asked as (

    select
        headline_asked.model,
        headline_asked.mode,
        figures.figure_number,
        sum(headline_asked.n_asked) as n_asked
    from headline_asked
    inner join figures
        on headline_asked.task = figures.task
        and coalesce(figures.n_options, headline_asked.n_options) = headline_asked.n_options
    semi join wanted
        on figures.figure_number = wanted.figure_number
        and figures.cell = wanted.cell
    group by
        headline_asked.model,
        headline_asked.mode,
        figures.figure_number

),

judged as (

    select
        asked.model,
        asked.mode,
        asked.series,
        names.figure,
        names.figure_number,
        coalesce(counted.n, 0) as n,
        coalesce(figures_asked.n_asked, 0) as n_asked,
        coalesce(counted.n_templates, 0) as n_templates,
        coalesce(counted.n_estimable = wanted.n_cells, false) as is_estimable
    from asked
    cross join (select distinct figure, figure_number from figures) as names
    left join figures_counted as counted
        on asked.series = counted.series
        and names.figure_number = counted.figure_number
    left join figures_asked
        on asked.model = figures_asked.model
        and asked.mode = figures_asked.mode
        and names.figure_number = figures_asked.figure_number
    left join (select distinct figure_number, n_cells from wanted) as wanted
        on names.figure_number = wanted.figure_number

),

estimable as (

    select
        cells.series,
        cells.figure_number,
        cells.cell,
        cells.person_group,
        cells.answer_cui_id,
        cells.n,
        cells.value
    from cells
    semi join judged
        on cells.series = judged.series
        and cells.figure_number = judged.figure_number
        and judged.is_estimable

),

{{ mean_of_cells('means', 'estimable', ['series', 'figure_number']) }},

-- Of answers as if each were alone, for the design effect.
naive as (

    select
        series,
        figure_number,
        sum(cast(
            cell_value / cell_n / 1000000000 * (1 - cell_value / cell_n / 1000000000) / cell_n
            / (n_cells * n_cells) as decimal(18, 15)
        )) as naive_variance
    from means_cells
    group by
        series,
        figure_number

),

errors as (

    select
        means.*,
        naive.naive_variance,
        -- The Wilson interval of a lone cell is taken as it is.
        case
            when means.n_cells = 1 then means.standard_error
            else sqrt(means.standard_error * means.standard_error + means.agreed_variance)
        end as total_error
    from means
    inner join naive
        on means.series = naive.series
        and means.figure_number = naive.figure_number

),

intervals as (

    select
        judged.model,
        judged.mode,
        judged.figure,
        judged.n,
        judged.n_asked,
        judged.n_templates,
        judged.is_estimable,
        errors.n_persons,
        errors.n_cells,
        errors.mean,
        errors.total_error,
        -- Above blind guessing a figure may be below zero, by as much as being always wrong.
        case
            when errors.total_error is null then null
            when judged.figure = 'chance_corrected' then least(errors.mean, greatest(
                {{ -1 / (var('item_option_counts') | min - 1) }},
                errors.mean - {{ var('interval_z') }} * errors.total_error
            ))
            else {{ clustered_interval(
                'errors.mean', 'errors.total_error', 'errors.n_persons', 'low'
            ) }}
        end as low,
        case
            when errors.total_error is null then null
            when judged.figure = 'chance_corrected' then greatest(errors.mean, least(
                1.0, errors.mean + {{ var('interval_z') }} * errors.total_error
            ))
            else {{ clustered_interval(
                'errors.mean', 'errors.total_error', 'errors.n_persons', 'high'
            ) }}
        end as high,
        power(errors.total_error, 2) / nullif(cast(errors.naive_variance as double), 0)
            as design_effect
    from judged
    left join errors
        on judged.series = errors.series
        and judged.figure_number = errors.figure_number

),

-- Twelve digits: the reports round once more.
final as (

    select
        ---------- ids
        model,
        mode,
        figure,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(n_templates as integer) as n_templates,
        cast(n_persons as integer) as n_persons,
        cast(n_cells as integer) as n_cells,

        ---------- figures
        cast(round(mean, 12) as decimal(18, 12)) as mean,
        cast(round(total_error, 12) as decimal(18, 12)) as standard_error,
        cast(round(low, 12) as decimal(18, 12)) as low,
        cast(round(high, 12) as decimal(18, 12)) as high,
        cast(round(design_effect, 6) as decimal(18, 6)) as design_effect,
        case when is_estimable then 'estimable' else 'not_estimable' end as status
    from intervals

)

select * from final
