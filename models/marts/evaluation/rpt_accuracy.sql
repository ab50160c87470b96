with

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

arms as (

    select * from {{ ref('prompt_arms') }}
    where is_headline

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

headline_scores as (

    select scores.*
    from scores
    semi join arms
        on scores.arm = arms.arm

),

series as (

    select
        source,
        model,
        mode,
        task,
        n_options,
        row_number() over (order by source, model, mode, task, n_options) as series
    from headline_scores
    group by
        source,
        model,
        mode,
        task,
        n_options

),

-- Each source, and all that count once; a person of several sources is one cluster.
levels as (

    select
        series,
        source,
        model,
        mode,
        task,
        n_options
    from series

    union all

    select
        series.series,
        'all' as source,
        series.model,
        series.mode,
        series.task,
        series.n_options
    from series
    semi join pooled_sources
        on series.source = pooled_sources.source

),

cells as (

    select
        *,
        dense_rank() over (order by source, model, mode, task, n_options) as cell
    from levels

),

persons as (

    select
        person_group,
        row_number() over (order by person_group) as person
    from headline_scores
    group by person_group

),

-- Integer handles: the rows below are grouped many times.
templates as (

    select
        series.series,
        persons.person as person_group,
        coalesce(headline_scores.answer_cui_id, 0) as answer_cui_id,
        headline_scores.template_key,
        count(*) as n,
        cast(sum(headline_scores.correct) as bigint) * 1000000000 as value
    from headline_scores
    inner join series
        on headline_scores.source = series.source
        and headline_scores.model = series.model
        and headline_scores.mode = series.mode
        and headline_scores.task = series.task
        and headline_scores.n_options = series.n_options
    inner join persons
        on headline_scores.person_group = persons.person_group
    group by
        series.series,
        persons.person,
        headline_scores.answer_cui_id,
        headline_scores.template_key

),

numbered as (

    select
        cells.cell,
        1 as part,
        templates.person_group,
        templates.answer_cui_id,
        templates.n,
        templates.value
    from templates
    inner join cells
        on templates.series = cells.series

),

{{ mean_of_cells('means', 'numbered', ['cell'], 'part') }},

-- A template has one source and one cell of it.
counted as (

    select
        cell,
        count(*) as n_templates
    from numbered
    group by cell

),

cell_names as (

    select distinct
        cell,
        source,
        model,
        mode,
        task,
        n_options
    from cells

),

accuracies as (

    select
        ---------- ids
        cell_names.source,
        cell_names.model,
        cell_names.mode,
        cell_names.task,
        cell_names.n_options,

        ---------- counts
        cast(means.n as integer) as n,
        cast(counted.n_templates as integer) as n_templates,
        cast(means.n_persons as integer) as n_clusters,
        cast(means.n_answers as integer) as n_answers,

        ---------- figures
        {{ rounded_share('means.mean') }} as accuracy,
        {{ rounded_share(clustered_interval(
            'means.mean', 'means.standard_error', 'means.n_persons', 'low'
        )) }} as accuracy_low,
        {{ rounded_share(clustered_interval(
            'means.mean', 'means.standard_error', 'means.n_persons', 'high'
        )) }} as accuracy_high,
        {{ rounded_share('1.0 / cell_names.n_options') }} as chance,
        {{ estimate_status('counted.n_templates') }} as status
    from cell_names
    inner join counted
        on cell_names.cell = counted.cell
    inner join means
        on cell_names.cell = means.cell

)

select * from accuracies
