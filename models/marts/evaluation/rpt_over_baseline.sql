-- A model has shown something only above what counting, popularity or likeness of names reach. Each
-- model × mode that the plan asks is paired with each baseline on the items that both have
-- answered; the difference is the plain mean of those of the tasks.
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

headline_asked as (

    select * from {{ ref('int_headline_asked') }}

),

models as (

    select * from {{ ref('models') }}

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

asked as (

    select
        headline_asked.model,
        headline_asked.mode,
        models.engine = 'sql' as is_baseline,
        sum(
            case when subset_tasks.task is not null then headline_asked.n_asked else 0 end
        ) as n_asked,
        row_number() over (order by headline_asked.model, headline_asked.mode) as series
    from headline_asked
    inner join models
        on headline_asked.model = models.model
    left join subset_tasks
        on headline_asked.task = subset_tasks.task
    group by
        headline_asked.model,
        headline_asked.mode,
        models.engine

),

pairs as (

    select
        firsts.model,
        firsts.mode,
        firsts.n_asked,
        firsts.series,
        baselines.model as baseline,
        baselines.mode as baseline_mode,
        baselines.series as baseline_series
    from asked as firsts
    cross join asked as baselines
    where not firsts.is_baseline
        and baselines.is_baseline

),

persons as (

    select
        person_group,
        row_number() over (order by person_group) as person
    from scores
    group by person_group

),

answers as (

    select
        asked.series,
        asked.is_baseline,
        scores.item_id,
        scores.template_key,
        subset_tasks.cell,
        persons.person as person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        scores.correct
    from scores
    inner join asked
        on scores.model = asked.model
        and scores.mode = asked.mode
    inner join subset_tasks
        on scores.task = subset_tasks.task
    inner join persons
        on scores.person_group = persons.person_group

),

compared as (

    select
        firsts.series,
        baselines.series as baseline_series,
        firsts.cell,
        firsts.template_key,
        firsts.person_group,
        firsts.answer_cui_id,
        count(*) as n,
        cast(sum(firsts.correct - baselines.correct) as bigint) * 1000000000 as value
    from answers as firsts
    inner join answers as baselines
        on firsts.item_id = baselines.item_id
    where not firsts.is_baseline
        and baselines.is_baseline
    group by
        firsts.series,
        baselines.series,
        firsts.cell,
        firsts.template_key,
        firsts.person_group,
        firsts.answer_cui_id

),

{{ mean_of_cells('means', 'compared', ['series', 'baseline_series']) }},

cells_counted as (

    select
        series,
        baseline_series,
        cell,
        count(*) as n_templates
    from compared
    group by
        series,
        baseline_series,
        cell

),

templates_counted as (

    select
        series,
        baseline_series,
        sum(n_templates) as n_templates,
        count(*) filter (where {{ estimate_status('n_templates') }} = 'estimable')
            = (select count(*) from subset_tasks) as is_estimable
    from cells_counted
    group by
        series,
        baseline_series

),

judged as (

    select
        pairs.*,
        coalesce(means.n, 0) as n,
        coalesce(templates_counted.n_templates, 0) as n_templates,
        coalesce(means.n_persons, 0) as n_clusters,
        case when templates_counted.is_estimable then means.mean end as difference,
        case when templates_counted.is_estimable then sqrt(
            means.standard_error * means.standard_error + means.agreed_variance
        ) end as standard_error,
        coalesce(templates_counted.is_estimable, false) as is_estimable
    from pairs
    left join means
        on pairs.series = means.series
        and pairs.baseline_series = means.baseline_series
    left join templates_counted
        on pairs.series = templates_counted.series
        and pairs.baseline_series = templates_counted.baseline_series

),

tested as (

    select
        *,
        case when standard_error > 0
            then {{ normal_p('(difference / standard_error)') }}
        end as p_value
    from judged

),

{{ holm_steps('adjusted', 'tested', ['mode', 'baseline', 'baseline_mode'], 'p_value', 'model') }},

over_baseline as (

    select
        ---------- ids
        model,
        mode,
        baseline,
        baseline_mode,

        ---------- counts
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(n_templates as integer) as n_templates,
        cast(n_clusters as integer) as n_clusters,

        ---------- difference
        {{ rounded_share('difference') }} as difference,
        case when standard_error is not null then {{ rounded_share(
            'greatest(-1.0, difference - ' ~ var('interval_z') ~ ' * standard_error)'
        ) }} end as difference_low,
        case when standard_error is not null then {{ rounded_share(
            'least(1.0, difference + ' ~ var('interval_z') ~ ' * standard_error)'
        ) }} end as difference_high,
        cast(round(p_value, 12) as decimal(18, 12)) as p_value,
        cast(round(p_holm, 12) as decimal(18, 12)) as p_holm,
        case
            when not is_estimable then null
            when coalesce(p_holm > {{ var('tier_alpha') }}, true) then 'level'
            when difference > 0 then 'above'
            else 'below'
        end as verdict,
        case when is_estimable then 'estimable' else 'not_estimable' end as status
    from adjusted

)

select * from over_baseline
