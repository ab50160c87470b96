-- Does a model answer worse for some? Groups are joined after the fact; no prompt holds them. The
-- gap is the group's accuracy less that of the rest of the same grouping. Groups differ in their
-- mix of tasks, so every figure stands for each task as well.
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and is_headline

),

template_groups as (

    select * from {{ ref('int_template_groups') }}

),

---------- integer handles

groups as (

    select
        grouping,
        subgroup,
        min(subgroup_order) as subgroup_order,
        dense_rank() over (order by grouping) as grouping_number,
        row_number() over (order by grouping, subgroup) as group_number
    from template_groups
    group by
        grouping,
        subgroup

),

members as (

    select
        template_groups.template_key,
        groups.grouping_number,
        groups.group_number
    from template_groups
    inner join groups
        on template_groups.grouping = groups.grouping
        and template_groups.subgroup = groups.subgroup

),

asked_templates as (

    select
        requests.model,
        requests.mode,
        requests.task,
        requests.template_key,
        count(*) as n_asked
    from requests
    group by
        requests.model,
        requests.mode,
        requests.task,
        requests.template_key

),

series as (

    select
        model,
        mode,
        row_number() over (order by model, mode) as series
    from asked_templates
    group by
        model,
        mode

),

tasks as (

    select distinct
        task,
        scope
    from asked_templates
    cross join lateral (select task as scope union all select 'all' as scope)

),

asked as (

    select
        series.series,
        tasks.scope,
        members.group_number,
        sum(asked_templates.n_asked) as n_asked
    from asked_templates
    inner join tasks
        on asked_templates.task = tasks.task
    inner join series
        on asked_templates.model = series.model
        and asked_templates.mode = series.mode
    inner join members
        on asked_templates.template_key = members.template_key
    group by
        series.series,
        tasks.scope,
        members.group_number

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
        series.series,
        tasks.scope,
        scores.template_key,
        persons.person as person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        count(*) as n,
        cast(sum(scores.correct) as bigint) * 1000000000000 as value
    from scores
    inner join tasks
        on scores.task = tasks.task
    inner join series
        on scores.model = series.model
        and scores.mode = series.mode
    inner join persons
        on scores.person_group = persons.person_group
    group by
        series.series,
        tasks.scope,
        scores.template_key,
        persons.person,
        scores.answer_cui_id

),

answers_grouped as (

    select
        answers.*,
        members.grouping_number,
        members.group_number,
        1 as part
    from answers
    inner join members
        on answers.template_key = members.template_key

),

{{ figure_intervals('figures', 'answers_grouped', ['series', 'scope', 'group_number'], 'true') }},

---------- the group against the rest

-- Twice the mean of both sides, the rest below zero, is their difference; a person or an answer
-- that is on both sides moves it twice.
sides as (

    select
        answers_grouped.series,
        answers_grouped.scope,
        groups.group_number,
        case when answers_grouped.group_number = groups.group_number then 1 else 2 end as side,
        answers_grouped.person_group,
        answers_grouped.answer_cui_id,
        answers_grouped.n,
        case when answers_grouped.group_number = groups.group_number then 1 else -1 end
            * answers_grouped.value as value
    from answers_grouped
    inner join groups
        on answers_grouped.grouping_number = groups.grouping_number

),

{{ mean_of_cells('gaps', 'sides', ['series', 'scope', 'group_number'], 'side', 1000000000000) }},

rests as (

    select
        figures.series,
        figures.scope,
        figures.group_number,
        sum(figures.n_templates) over (
            partition by figures.series, figures.scope, groups.grouping_number
        ) - figures.n_templates as n_templates
    from figures
    inner join groups
        on figures.group_number = groups.group_number

),

judged as (

    select
        series.model,
        series.mode,
        asked.scope,
        groups.grouping,
        groups.subgroup,
        groups.subgroup_order,
        asked.n_asked,
        figures.n,
        figures.n_templates,
        figures.n_persons,
        figures.mean,
        figures.low,
        figures.high,
        {{ estimate_status('figures.n_templates') }} = 'estimable' as is_estimable,
        {{ estimate_status('least(figures.n_templates, rests.n_templates)') }} = 'estimable'
            as has_gap,
        2 * gaps.mean as gap,
        2 * sqrt(gaps.standard_error * gaps.standard_error + gaps.agreed_variance) as gap_error
    from asked
    inner join series
        on asked.series = series.series
    inner join groups
        on asked.group_number = groups.group_number
    left join figures
        on asked.series = figures.series
        and asked.scope = figures.scope
        and asked.group_number = figures.group_number
    left join rests
        on asked.series = rests.series
        and asked.scope = rests.scope
        and asked.group_number = rests.group_number
    left join gaps
        on asked.series = gaps.series
        and asked.scope = gaps.scope
        and asked.group_number = gaps.group_number

),

subgroups as (

    select
        ---------- ids
        model,
        mode,
        scope as task,
        grouping,
        subgroup,
        cast(subgroup_order as integer) as subgroup_order,

        ---------- counts
        cast(coalesce(n, 0) as integer) as n,
        cast(n_asked as integer) as n_asked,
        cast(coalesce(n_templates, 0) as integer) as n_templates,
        cast(coalesce(n_persons, 0) as integer) as n_clusters,

        ---------- figures
        case when is_estimable then {{ rounded_share('mean') }} end as accuracy,
        case when is_estimable then {{ rounded_share('low') }} end as accuracy_low,
        case when is_estimable then {{ rounded_share('high') }} end as accuracy_high,
        case when has_gap then {{ rounded_share('gap') }} end as gap,
        case when has_gap and gap_error is not null then {{ rounded_share(
            'greatest(-1.0, gap - ' ~ var('interval_z') ~ ' * gap_error)'
        ) }} end as gap_low,
        case when has_gap and gap_error is not null then {{ rounded_share(
            'least(1.0, gap + ' ~ var('interval_z') ~ ' * gap_error)'
        ) }} end as gap_high,

        ---------- state
        case when is_estimable then 'estimable' else 'not_estimable' end as status
    from judged

)

select * from subgroups
