-- Pairs of models of a mode on the items that both have answered. The difference is the plain mean
-- of those of the tasks, as overall is the mean of the tasks.
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and is_headline

),

subset as (

    select * from {{ ref('int_subset_templates') }}

),

subset_tasks as (

    select
        task,
        row_number() over (order by task) as cell
    from subset
    group by task
    having {{ estimate_status('count(distinct template_key)') }} = 'estimable'

),

series as (

    select
        model,
        mode,
        row_number() over (order by mode, model) as series
    from requests
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

items as (

    select
        item_id,
        dense_rank() over (order by template_key) as template,
        row_number() over (partition by template_key order by item_id) - 1 as place
    from requests
    group by
        item_id,
        template_key

),

asked as (

    select
        series.series,
        series.mode,
        items.template,
        bit_or(cast(1 as bigint) << items.place) as asked
    from requests
    inner join series
        on requests.model = series.model
        and requests.mode = series.mode
    inner join items
        on requests.item_id = items.item_id
    semi join subset_tasks
        on requests.task = subset_tasks.task
    group by
        series.series,
        series.mode,
        items.template

),

pairs_asked as (

    select
        firsts.series as first_series,
        seconds.series as second_series,
        sum(bit_count(firsts.asked & seconds.asked)) as n_asked
    from asked as firsts
    inner join asked as seconds
        on firsts.template = seconds.template
        and firsts.mode = seconds.mode
        and firsts.series < seconds.series
    group by
        firsts.series,
        seconds.series

),

-- Integer handles, and the items of a template as bits: a pair of models per template follows.
answers as (

    select
        series.series,
        series.mode,
        items.template,
        subset_tasks.cell,
        persons.person as person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        bit_or(cast(1 as bigint) << items.place) as answered,
        bit_or(cast(scores.correct as bigint) << items.place) as correct
    from scores
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    inner join items
        on scores.item_id = items.item_id
    inner join persons
        on scores.person_group = persons.person_group
    inner join subset_tasks
        on scores.task = subset_tasks.task
    group by
        series.series,
        series.mode,
        items.template,
        subset_tasks.cell,
        persons.person,
        scores.answer_cui_id

),

compared as (

    select
        firsts.series as first_series,
        seconds.series as second_series,
        firsts.cell,
        firsts.person_group,
        firsts.answer_cui_id,
        bit_count(firsts.answered & seconds.answered) as n,
        (
            bit_count(firsts.correct & seconds.answered)
            - bit_count(seconds.correct & firsts.answered)
        ) * cast(1000000000 as bigint) as value
    from answers as firsts
    inner join answers as seconds
        on firsts.template = seconds.template
        and firsts.mode = seconds.mode
        and firsts.series < seconds.series
    where firsts.answered & seconds.answered > 0

),

{{ mean_of_cells('means', 'compared', ['first_series', 'second_series']) }},

-- A template counts for the model that has more of its common items right.
cells_counted as (

    select
        first_series,
        second_series,
        cell,
        count(*) as n_templates,
        count(*) filter (where value > 0) as n_first_better,
        count(*) filter (where value < 0) as n_second_better
    from compared
    group by
        first_series,
        second_series,
        cell

),

templates_counted as (

    select
        first_series,
        second_series,
        sum(n_templates) as n_templates,
        sum(n_first_better) as n_first_better,
        sum(n_second_better) as n_second_better,
        count(*) filter (where {{ estimate_status('n_templates') }} = 'estimable') as n_estimable
    from cells_counted
    group by
        first_series,
        second_series

),

judged as (

    select
        firsts.mode,
        firsts.model as first_model,
        seconds.model as second_model,
        coalesce(means.n, 0) as n,
        coalesce(pairs_asked.n_asked, 0) as n_asked,
        coalesce(templates_counted.n_templates, 0) as n_templates,
        means.n_persons,
        means.mean as difference,
        sqrt(means.standard_error * means.standard_error + means.agreed_variance)
            as standard_error,
        templates_counted.n_first_better,
        templates_counted.n_second_better,
        coalesce(
            templates_counted.n_estimable = (select count(*) from subset_tasks),
            false
        ) as is_estimable
    from series as firsts
    inner join series as seconds
        on firsts.mode = seconds.mode
        and firsts.series < seconds.series
    left join pairs_asked
        on firsts.series = pairs_asked.first_series
        and seconds.series = pairs_asked.second_series
    left join means
        on firsts.series = means.first_series
        and seconds.series = means.second_series
    left join templates_counted
        on firsts.series = templates_counted.first_series
        and seconds.series = templates_counted.second_series

),

tested as (

    select
        *,
        case when is_estimable and standard_error > 0
            then {{ normal_p('(difference / standard_error)') }}
        end as p_value
    from judged

),

{{ holm_steps('adjusted', 'tested', ['mode'], 'p_value', 'first_model, second_model') }},

differences as (

    select
        ---------- ids
        mode,
        first_model,
        second_model,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(n_templates as integer) as n_templates,
        cast(coalesce(n_persons, 0) as integer) as n_clusters,

        ---------- difference
        case when is_estimable then {{ rounded_share('difference') }} end as difference,
        case when is_estimable and standard_error is not null then {{ rounded_share(
            'greatest(-1.0, difference - ' ~ var('interval_z') ~ ' * standard_error)'
        ) }} end as difference_low,
        case when is_estimable and standard_error is not null then {{ rounded_share(
            'least(1.0, difference + ' ~ var('interval_z') ~ ' * standard_error)'
        ) }} end as difference_high,
        case when is_estimable then {{ rounded_share('standard_error') }} end as standard_error,
        cast(round(p_value, 12) as decimal(18, 12)) as p_value,
        cast(round(p_holm, 12) as decimal(18, 12)) as p_holm,

        ---------- check by sign
        cast(coalesce(n_first_better, 0) as integer) as n_first_better,
        cast(coalesce(n_second_better, 0) as integer) as n_second_better,
        case when is_estimable then cast(round(
            {{ sign_test_p('coalesce(n_first_better, 0)', 'coalesce(n_second_better, 0)') }}, 12
        ) as decimal(18, 12)) end as mcnemar_p,
        case when is_estimable then 'estimable' else 'not_estimable' end as status
    from adjusted

)

select * from differences
