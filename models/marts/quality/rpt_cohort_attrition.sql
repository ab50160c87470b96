with

steps as (

    select * from {{ ref('attrition_steps') }}

),

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
        steps.unit,
        steps.step,
        case steps.measure
            when 'rows' then sources.n_rows
            when 'usable' then patient_counts.n_usable
            when 'with_visit' then patient_counts.n_with_visit
            when 'with_two_visits' then patient_counts.n_with_two
        end as n
    from sources
    cross join steps
    left join patient_counts
        on sources.source = patient_counts.source
    where steps.part = 'patients'

),

visit_steps as (

    select
        sources.source,
        steps.step_number,
        steps.unit,
        steps.step,
        case steps.measure
            when 'rows' then admission_counts.n_rows
            when 'usable' then visit_counts.n_admissions
            when 'merged' then visit_counts.n_visits
            when 'inpatient' then visit_counts.n_inpatient
            when 'with_next' then visit_counts.n_next
            when 'with_next_inpatient' then visit_counts.n_next_inpatient
            when 'within_horizon' then visit_counts.n_within_horizon
        end as n
    from sources
    cross join steps
    left join admission_counts
        on sources.source = admission_counts.source
    left join visit_counts
        on sources.source = visit_counts.source
    where steps.part = 'visits'

),

source_event_counts as (

    -- Codes that the source itself has no title for are kept; their label comes from elsewhere.
    select
        source,
        concat('events: ', event_type) as unit,
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
        concat('events: ', events.event_type) as unit,
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
        steps.step_number,
        steps.unit,
        steps.step,
        case steps.measure
            when 'rows' then source_event_counts.n_rows
            when 'kept' then event_counts.n_rows_kept
            when 'distinct' then event_counts.n_events
            when 'mapped' then event_counts.n_mapped
            when 'eligible' then event_counts.n_eligible
            when 'untitled_rows' then source_event_counts.n_untitled_rows
            when 'untitled_codes' then source_event_counts.n_untitled_codes
        end as n
    from sources
    cross join steps
    left join source_event_counts
        on sources.source = source_event_counts.source
        and steps.unit = source_event_counts.unit
    left join event_counts
        on sources.source = event_counts.source
        and steps.unit = event_counts.unit
    where steps.part = 'events'

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
