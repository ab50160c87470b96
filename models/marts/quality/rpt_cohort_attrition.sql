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

stay_rule_steps as (

    select * from {{ ref('int_mimic_iii__stay_rule_effect') }}

),

item_steps as (

    select * from {{ ref('int_leak_attrition') }}

),

sources as (

    -- A source whose rows are all set aside still has every step, at 0.
    select
        source,
        count(*) as n_rows
    from patients
    group by source

),

patient_counts as (

    select
        source,
        count(*) as n_usable,
        count(*) filter (where n_visits >= 1) as n_with_visit,
        count(*) filter (where n_visits >= 2) as n_with_two
    from known_patients
    group by source

),

admission_counts as (

    select
        source,
        count(*) as n_rows
    from admissions
    group by source

),

visit_counts as (

    select
        source,
        sum(n_merged_admissions) as n_admissions,
        count(*) as n_visits,
        count(*) filter (where visit_class = 'inpatient') as n_inpatient,
        count(*) filter (where next_visit_key is not null) as n_next,
        count(*) filter (where next_inpatient_visit_key is not null) as n_next_inpatient,
        count(*) filter (where days_to_next_inpatient <= {{ var('px_horizon_days') }})
            as n_within_horizon
    from visits
    group by source

),

patient_steps as (

    select
        sources.source,
        steps.step_number,
        'patients' as unit,
        steps.step,
        case steps.step_number
            when 101 then sources.n_rows
            when 102 then patient_counts.n_usable
            when 103 then patient_counts.n_with_visit
            else patient_counts.n_with_two
        end as n
    from sources
    left join patient_counts
        on sources.source = patient_counts.source
    cross join (
        values (101, 'rows in the source'), (102, 'usable'), (103, 'with a visit'),
            (104, 'with two visits or more')
    ) as steps (step_number, step)

),

visit_steps as (

    select
        sources.source,
        steps.step_number,
        'visits' as unit,
        steps.step,
        case steps.step_number
            when 201 then admission_counts.n_rows
            when 202 then visit_counts.n_admissions
            when 203 then visit_counts.n_visits
            when 204 then visit_counts.n_inpatient
            when 205 then visit_counts.n_next
            when 206 then visit_counts.n_next_inpatient
            else visit_counts.n_within_horizon
        end as n
    from sources
    left join admission_counts
        on sources.source = admission_counts.source
    left join visit_counts
        on sources.source = visit_counts.source
    cross join (
        values (201, 'admissions in the source'), (202, 'usable admissions'),
            (203, 'after merging'), (204, 'inpatient'), (205, 'with a next visit'),
            (206, 'with a next inpatient visit'),
            (207, 'with a next inpatient visit within the horizon')
    ) as steps (step_number, step)

),

event_types as (

    select *
    from (values ('diagnosis', 300), ('medication', 400), ('procedure', 500))
        as listed (event_type, step_base)

),

source_event_counts as (

    -- Codes that the source itself has no title for are kept; their label comes from elsewhere.
    select
        source,
        event_type,
        sum(n_source_rows) as n_rows,
        sum(n_source_rows) filter (where set_aside_reason is null and source_label is null)
            as n_untitled_rows,
        count(distinct concat(code_system, '|', normalized_code))
            filter (where set_aside_reason is null and source_label is null)
            as n_untitled_codes
    from source_events
    group by source, event_type

),

event_counts as (

    select
        events.source,
        events.event_type,
        sum(events.n_source_rows) as n_rows_kept,
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
        sources.source,
        event_types.step_base + steps.step_offset as step_number,
        concat('events: ', event_types.event_type) as unit,
        steps.step,
        case steps.step_offset
            when 1 then source_event_counts.n_rows
            when 2 then event_counts.n_rows_kept
            when 3 then event_counts.n_events
            when 4 then event_counts.n_mapped
            when 5 then event_counts.n_eligible
            when 6 then source_event_counts.n_untitled_rows
            else source_event_counts.n_untitled_codes
        end as n
    from sources
    cross join event_types
    cross join (
        values (1, 'rows in the source'), (2, 'rows kept'), (3, 'distinct in a visit'),
            (4, 'mapped to a concept'), (5, 'eligible as answers'),
            (6, 'usable rows whose code the source gives no title'),
            (7, 'codes that the source gives no title')
    ) as steps (step_offset, step)
    left join source_event_counts
        on sources.source = source_event_counts.source
        and event_types.event_type = source_event_counts.event_type
    left join event_counts
        on sources.source = event_counts.source
        and event_types.event_type = event_counts.event_type
    -- An order is a text and has no title.
    where steps.step_offset <= 5
        or event_types.event_type <> 'medication'

),

rule_steps as (

    select
        sources.source,
        stay_rule_steps.step_number,
        stay_rule_steps.unit,
        stay_rule_steps.step,
        stay_rule_steps.n
    from sources
    inner join stay_rule_steps
        on sources.source = stay_rule_steps.source

),

united as (

    select * from patient_steps
    union all
    select * from visit_steps
    union all
    select * from event_steps
    union all
    select * from rule_steps
    union all
    select * from item_steps

)

select
    source,
    step_number,
    unit,
    step,
    cast(coalesce(n, 0) as bigint) as n
from united
