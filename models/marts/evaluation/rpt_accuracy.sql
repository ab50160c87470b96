with

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

arms as (

    select * from {{ ref('prompt_arms') }}
    where is_headline

),

requests as (

    select * from {{ ref('int_answer_requests') }}
    where repetition = 1
        and format = 'mcq'

),

items as (

    select
        item_id,
        source
    from {{ ref('dim_items') }}

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

-- What the plan asks, answered or not.
series as (

    select
        items.source,
        requests.model,
        requests.mode,
        requests.task,
        requests.n_options,
        count(*) as n_asked,
        row_number() over (
            order by
                items.source,
                requests.model,
                requests.mode,
                requests.task,
                requests.n_options
        ) as series
    from requests
    semi join arms
        on requests.arm = arms.arm
    inner join items
        on requests.item_id = items.item_id
    group by
        items.source,
        requests.model,
        requests.mode,
        requests.task,
        requests.n_options

),

-- Each source, and all that count once; a person of several sources is one cluster.
levels as (

    select
        series,
        source,
        model,
        mode,
        task,
        n_options,
        n_asked
    from series

    union all

    select
        series.series,
        'all' as source,
        series.model,
        series.mode,
        series.task,
        series.n_options,
        series.n_asked
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

    select
        cell,
        source,
        model,
        mode,
        task,
        n_options,
        sum(n_asked) as n_asked
    from cells
    group by
        cell,
        source,
        model,
        mode,
        task,
        n_options

),

judged as (

    select
        cell_names.*,
        coalesce(counted.n_templates, 0) as n_templates,
        {{ estimate_status('coalesce(counted.n_templates, 0)') }} as status
    from cell_names
    left join counted
        on cell_names.cell = counted.cell

),

accuracies as (

    select
        ---------- ids
        judged.source,
        judged.model,
        judged.mode,
        judged.task,
        judged.n_options,

        ---------- counts
        cast(coalesce(means.n, 0) as integer) as n,
        cast(judged.n_asked as integer) as n_asked,
        cast(judged.n_templates as integer) as n_templates,
        cast(coalesce(means.n_persons, 0) as integer) as n_clusters,
        cast(coalesce(means.n_answers, 0) as integer) as n_answers,

        ---------- figures
        case when judged.status = 'estimable' then {{ rounded_share('means.mean') }} end
            as accuracy,
        {%- for side in ['low', 'high'] %}
        case when judged.status = 'estimable' then {{ rounded_share(clustered_interval(
            'means.mean', 'means.standard_error', 'means.n_persons', side
        )) }} end as accuracy_{{ side }},
        {%- endfor %}
        {{ rounded_share('1.0 / judged.n_options') }} as chance,
        judged.status
    from judged
    left join means
        on judged.cell = means.cell

)

select * from accuracies
