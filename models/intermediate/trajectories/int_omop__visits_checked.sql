-- Visit rows of OMOP sites with their class, the place in their file and the reason against them.
with

visits as (

    select * from {{ ref('stg_omop__visit_occurrence') }}

),

concepts as (

    select * from {{ ref('int_omop__concepts') }}

),

visit_concepts as (

    select * from {{ ref('omop_visit_concepts') }}

),

shaped as (

    select
        *,
        regexp_replace(visit_source_value, '[A-Za-z0-9]+', 'x', 'g') as value_shape,
        coalesce(visit_start_datetime, visit_start_date) as admitted_at,
        coalesce(visit_end_datetime, visit_end_date) as ended_at,
        row_number() over (
            partition by source, visit_occurrence_id
            order by source_file, source_row
        ) as copy_number
    from visits

),

kinds as (

    select
        shaped.source,
        shaped.visit_concept_id,
        shaped.visit_source_concept_id,
        shaped.value_shape,
        source_concepts.concept_name as source_concept_name,
        visit_names.concept_name
    from (
        select distinct source, visit_concept_id, visit_source_concept_id, value_shape
        from shaped
    ) as shaped
    left join concepts as source_concepts
        on shaped.source = source_concepts.source
        and shaped.visit_source_concept_id = source_concepts.concept_id
    left join concepts as visit_names
        on shaped.source = visit_names.source
        and shaped.visit_concept_id = visit_names.concept_id

),

classed as (

    select
        kinds.source,
        kinds.visit_concept_id,
        kinds.visit_source_concept_id,
        kinds.value_shape,
        coalesce(
            visit_concepts.visit_class,
            kinds.concept_name,
            kinds.source_concept_name,
            concat('visit concept ', kinds.visit_concept_id)
        ) as admission_type
    from kinds
    left join visit_concepts
        on kinds.source like visit_concepts.source_pattern
        and visit_concepts.visit_concept_id in (kinds.visit_concept_id, '*')
        and visit_concepts.source_concept_name in (kinds.source_concept_name, '*')
        and visit_concepts.value_shape in (kinds.value_shape, '*')
    qualify row_number() over (
        partition by
            kinds.source, kinds.visit_concept_id, kinds.visit_source_concept_id,
            kinds.value_shape
        order by visit_concepts.rule_rank
    ) = 1

)

select
    shaped.source,
    shaped.person_id,
    shaped.visit_occurrence_id,
    classed.admission_type,
    shaped.admitted_at,
    -- A time of midnight is a date without a time, and a day counts to its end. A stay without an
    -- end, or with one before its start, ends where it starts.
    greatest(
        coalesce(
            case
                when shaped.ended_at = date_trunc('day', shaped.ended_at)
                    then shaped.ended_at + interval 1 day - interval 1 second
                else shaped.ended_at
            end,
            shaped.admitted_at
        ),
        shaped.admitted_at
    ) as discharged_at,
    shaped.source_file,
    shaped.source_row,
    case
        when shaped.is_torn_line then 'torn_line'
        when shaped.is_header_row then 'header_row'
        when shaped.person_id is null or shaped.visit_occurrence_id is null then 'missing_key'
        when {{ omop_id_is_torn('shaped.person_id') }}
            or {{ omop_id_is_torn('shaped.visit_occurrence_id') }}
            then 'torn_id'
        when shaped.admitted_at is null and shaped.unreadable_columns is not null
            then 'unreadable_date'
        when shaped.admitted_at is null then 'missing_time'
        when shaped.copy_number > 1 then 'duplicate_key'
    end as set_aside_reason,
    -- Such a stay ends where it starts.
    case
        when shaped.unreadable_columns is not null then 'unreadable_date'
        when shaped.ended_at is null then 'missing_time'
        when cast(shaped.ended_at as date) < cast(shaped.admitted_at as date)
            then 'end_before_start'
    end as repair_reason
from shaped
left join classed
    on shaped.source = classed.source
    and shaped.visit_concept_id is not distinct from classed.visit_concept_id
    and shaped.visit_source_concept_id is not distinct from classed.visit_source_concept_id
    and shaped.value_shape is not distinct from classed.value_shape
