-- Accuracy of answerers that never look at the scenario (or only at numbers about it). Rows without
-- n_options take one item per template, whatever its option count.
with

results as (

    select * from {{ ref('int_baseline_results') }}

),

-- Integer handles: the rows below are grouped many times.
series as (

    select
        baseline,
        pick,
        model,
        row_number() over (order by baseline, pick, model) as series_number
    from results
    group by
        baseline,
        pick,
        model

),

persons as (

    select
        person_group as person,
        row_number() over (order by person_group) as person_group
    from results
    group by person_group

),

cells as (

    select
        series.series_number,
        results.source,
        results.task,
        results.n_options,
        results.is_pooled,
        results.is_drawn,
        persons.person_group,
        results.answer_cui_id,
        results.draw,
        sum(results.n) as n,
        sum(results.points) as points,
        sum(results.points - results.chance_points) as lift_points,
        sum(results.concordance) as concordance,
        count(results.concordance) as n_concordance
    from results
    inner join series
        on results.baseline = series.baseline
        and results.pick = series.pick
        and results.model is not distinct from series.model
    inner join persons
        on results.person_group = persons.person
    group by
        series.series_number,
        results.source,
        results.task,
        results.n_options,
        results.is_pooled,
        results.is_drawn,
        persons.person_group,
        results.answer_cui_id,
        results.draw

),

source_levels as (

    select * from cells

    union all

    select
        * replace ('all' as source)
    from cells
    where is_pooled

),

task_levels as (

    select * from source_levels

    union all

    select
        * replace ('all' as task)
    from source_levels

),

count_levels as (

    select * from task_levels

    union all

    select
        * replace (cast(null as integer) as n_options)
    from task_levels
    where is_drawn

),

-- By way of the draw only over all sources and option counts.
levels as (

    select
        * replace ('all' as draw)
    from count_levels

    union all

    select * from count_levels
    where source = 'all'
        and n_options is null

),

strata as (

    select
        series_number,
        source,
        task,
        draw,
        n_options,
        row_number() over (order by series_number, source, task, draw, n_options) as stratum,
        cast(sum(points) as double) / sum(n) / 1000000 as accuracy,
        cast(sum(concordance) as double) / nullif(sum(n_concordance), 0) / 1000000 as auc
    from levels
    group by
        series_number,
        source,
        task,
        draw,
        n_options

),

numbered as (

    select
        strata.stratum,
        levels.person_group,
        levels.answer_cui_id,
        levels.n,
        levels.lift_points
    from levels
    inner join strata
        on levels.series_number = strata.series_number
        and levels.source = strata.source
        and levels.task = strata.task
        and levels.draw = strata.draw
        and levels.n_options is not distinct from strata.n_options

),

{{ two_way_error('lifts', 'numbered', ['stratum'], 'lift_points') }},

-- Chance is known, so accuracy has the error of the lift.
figures as (

    select
        series.baseline,
        series.pick,
        series.model,
        strata.source,
        strata.task,
        strata.draw,
        strata.n_options,
        strata.accuracy,
        strata.auc,
        lifts.n,
        lifts.n_persons as n_clusters,
        lifts.n_answers,
        lifts.mean as lift,
        lifts.standard_error,
        {{ clustered_interval('strata.accuracy', 'lifts.standard_error', 'lifts.n_persons', 'low') }}
            as accuracy_low,
        {{ clustered_interval('strata.accuracy', 'lifts.standard_error', 'lifts.n_persons', 'high') }}
            as accuracy_high
    from strata
    inner join series
        on strata.series_number = series.series_number
    inner join lifts
        on strata.stratum = lifts.stratum

),

final as (

    select
        ---------- ids
        baseline,
        pick,
        model,
        source,
        task,
        draw,
        n_options,

        ---------- counts
        cast(n as integer) as n,
        cast(n_clusters as integer) as n_clusters,
        cast(n_answers as integer) as n_answers,

        ---------- figures
        {{ rounded_share('accuracy') }} as accuracy,
        {{ rounded_share('accuracy_low') }} as accuracy_low,
        {{ rounded_share('accuracy_high') }} as accuracy_high,
        {{ rounded_share('accuracy - lift') }} as chance,
        {{ rounded_share('lift') }} as lift,
        {{ rounded_share(
            'case when standard_error > 0 then lift - ' ~ var('interval_z') ~ ' * standard_error '
            ~ 'else accuracy_low - accuracy + lift end'
        ) }} as lift_low,
        {{ rounded_share(
            'case when standard_error > 0 then lift + ' ~ var('interval_z') ~ ' * standard_error '
            ~ 'else accuracy_high - accuracy + lift end'
        ) }} as lift_high,
        {{ rounded_share('standard_error') }} as standard_error,
        {{ rounded_share('auc') }} as auc
    from figures

)

select * from final
