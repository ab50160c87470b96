with

patients as (

    select * from {{ ref('int_source_patients') }}

),

admissions as (

    select * from {{ ref('int_source_admissions') }}

),

source_events as (

    select * from {{ ref('int_source_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

known_patients as (

    select * from {{ ref('dim_patients') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

answer_events as (

    select * from {{ ref('int_answer_events') }}

),

patient_steps as (

    select source, 101 as step_number, 'patients' as unit, 'rows in the source' as step,
        count(*) as n
    from patients
    group by source
    union all
    select source, 102, 'patients', 'usable', count(*)
    from known_patients
    group by source
    union all
    select source, 103, 'patients', 'with a visit', count(*) filter (where n_visits >= 1)
    from known_patients
    group by source
    union all
    select source, 104, 'patients', 'with two visits or more',
        count(*) filter (where n_visits >= 2)
    from known_patients
    group by source

),

visit_steps as (

    select source, 201 as step_number, 'visits' as unit, 'admissions in the source' as step,
        count(*) as n
    from admissions
    group by source
    union all
    select source, 202, 'visits', 'usable admissions',
        cast(sum(n_merged_admissions) as bigint)
    from visits
    group by source
    union all
    select source, 203, 'visits', 'after merging', count(*)
    from visits
    group by source
    union all
    select source, 204, 'visits', 'inpatient', count(*) filter (where visit_class = 'inpatient')
    from visits
    group by source
    union all
    select source, 205, 'visits', 'with a next visit',
        count(*) filter (where next_visit_key is not null)
    from visits
    group by source
    union all
    select source, 206, 'visits', 'with a next inpatient visit',
        count(*) filter (where next_inpatient_visit_key is not null)
    from visits
    group by source
    union all
    select source, 207, 'visits', 'with a next inpatient visit within the horizon',
        count(*) filter (where days_to_next_inpatient <= {{ var('px_horizon_days') }})
    from visits
    group by source

),

event_types as (

    select *
    from (values ('diagnosis', 300), ('medication', 400), ('procedure', 500))
        as listed (event_type, step_base)

),

source_event_steps as (

    select
        source_events.source,
        event_types.step_base + 1 as step_number,
        concat('events: ', source_events.event_type) as unit,
        'rows in the source' as step,
        cast(sum(source_events.n_source_rows) as bigint) as n
    from source_events
    inner join event_types
        on source_events.event_type = event_types.event_type
    group by source_events.source, event_types.step_base, source_events.event_type

),

event_counts as (

    select
        events.source,
        events.event_type,
        cast(sum(events.n_source_rows) as bigint) as n_rows_kept,
        count(*) as n_events,
        count(answer_events.cui_id) as n_mapped,
        count(*) filter (where answer_events.eligible) as n_eligible
    from events
    left join answer_events
        on events.event_key = answer_events.event_key
    group by events.source, events.event_type

),

event_steps as (

    select
        event_counts.source,
        event_types.step_base + steps.step_offset as step_number,
        concat('events: ', event_counts.event_type) as unit,
        steps.step,
        case steps.step_offset
            when 2 then event_counts.n_rows_kept
            when 3 then event_counts.n_events
            when 4 then event_counts.n_mapped
            else event_counts.n_eligible
        end as n
    from event_counts
    inner join event_types
        on event_counts.event_type = event_types.event_type
    cross join (
        values (2, 'rows kept'), (3, 'distinct in a visit'), (4, 'mapped to a concept'),
            (5, 'eligible as answers')
    ) as steps (step_offset, step)

),

united as (

    select * from patient_steps
    union all
    select * from visit_steps
    union all
    select * from source_event_steps
    union all
    select * from event_steps

)

select
    source,
    step_number,
    unit,
    step,
    n
from united
