-- In how many persons of its source some visit holds every event that a released scenario shows, by
-- what is printed (type and title). Looked up from the rarest event on, for a fixed md5 sample of
-- templates.
with

released as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where released

),

templates as (

    select * from {{ ref('int_templates') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

stems as (

    select
        templates.template_key,
        templates.template_number,
        templates.source,
        templates.task,
        row_number() over (
            partition by templates.source, templates.task
            order by {{ key(["'stem'", 'templates.template_key']) }}, templates.template_key
        ) <= {{ var('stem_sample') }} as is_sampled
    from released
    inner join templates
        on released.template_key = templates.template_key

),

stem_titles as (

    select distinct
        stems.template_number,
        stems.source,
        scenario.event_type,
        scenario.label
    from stems
    inner join scenario
        on stems.template_key = scenario.template_key
    where stems.is_sampled

),

titles as (

    select
        source,
        event_type,
        label,
        cast(row_number() over (order by source, event_type, label) as integer) as title_number
    from stem_titles
    group by
        source,
        event_type,
        label

),

visit_titles as (

    select distinct
        events.visit_key,
        titles.title_number
    from events
    inner join titles
        on events.source = titles.source
        and events.event_type = titles.event_type
        and {{ render_label('events.label') }} = titles.label

),

titles_counted as (

    select
        title_number,
        count(*) as n_visits
    from visit_titles
    group by title_number

),

stems_numbered as (

    select
        stem_titles.template_number,
        titles.title_number,
        count(*) over (partition by stem_titles.template_number) as n_titles,
        row_number() over (
            partition by stem_titles.template_number
            order by titles_counted.n_visits, titles.title_number
        ) = 1 as is_rarest
    from stem_titles
    inner join titles
        on stem_titles.source = titles.source
        and stem_titles.event_type = titles.event_type
        and stem_titles.label = titles.label
    inner join titles_counted
        on titles.title_number = titles_counted.title_number

),

candidate_visits as (

    select
        stems_numbered.template_number,
        stems_numbered.n_titles,
        visit_titles.visit_key
    from stems_numbered
    inner join visit_titles
        on stems_numbered.title_number = visit_titles.title_number
    where stems_numbered.is_rarest

),

matching_visits as (

    select
        candidate_visits.template_number,
        candidate_visits.visit_key
    from candidate_visits
    inner join stems_numbered
        on candidate_visits.template_number = stems_numbered.template_number
    inner join visit_titles
        on candidate_visits.visit_key = visit_titles.visit_key
        and stems_numbered.title_number = visit_titles.title_number
    group by
        candidate_visits.template_number,
        candidate_visits.visit_key,
        candidate_visits.n_titles
    having count(*) = candidate_visits.n_titles

),

persons_counted as (

    select
        matching_visits.template_number,
        count(distinct visits.person_group) as n_persons
    from matching_visits
    inner join visits
        on matching_visits.visit_key = visits.visit_key
    group by matching_visits.template_number

),

summed as (

    select
        stems.source,
        stems.task,
        count(*) as n_stems,
        count(*) filter (where stems.is_sampled) as n_looked_up,
        count(*) filter (where persons_counted.n_persons = 1) as n_unique,
        count(*) filter (
            where persons_counted.n_persons < {{ var('stem_min_persons') }}
        ) as n_rare,
        quantile_disc(persons_counted.n_persons, 0.5) as median_persons,
        max(persons_counted.n_persons) as max_persons
    from stems
    left join persons_counted
        on stems.template_number = persons_counted.template_number
    group by
        stems.source,
        stems.task

),

final as (

    select
        source,
        task,
        n_stems,
        n_looked_up,
        n_unique,
        {{ share('n_unique', 'n_looked_up') }} as share_unique,
        n_rare,
        {{ share('n_rare', 'n_looked_up') }} as share_rare,
        median_persons,
        max_persons
    from summed

)

select * from final
