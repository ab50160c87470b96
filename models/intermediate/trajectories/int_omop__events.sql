-- Source events of OMOP sites in the shape of int_source_events.
with

coded_rows as (

    select * from {{ ref('int_omop__coded_rows') }}

),

codes_decided as (

    select * from {{ ref('int_omop__codes_decided') }}

),

drug_rows as (

    select * from {{ ref('int_omop__drug_rows') }}

),

coded_events as (

    select
        coded_rows.source,
        coded_rows.person_id as patient_id,
        coded_rows.visit_occurrence_id as admission_id,
        coded_rows.row_type as event_type,
        codes_decided.code_system,
        coalesce(codes_decided.source_code, coded_rows.source_value) as source_code,
        codes_decided.normalized_code,
        codes_decided.label as source_label,
        cast(null as varchar) as ndc,
        cast(null as varchar) as route,
        coded_rows.first_at,
        cast(null as integer) as seq_num,
        coded_rows.n_source_rows,
        case
            when coded_rows.set_aside_reason is not null then coded_rows.set_aside_reason
            when codes_decided.normalized_code is null then 'unnamed_concept'
        end as set_aside_reason
    from coded_rows
    left join codes_decided
        on coded_rows.set_aside_reason is null
        and coded_rows.source = codes_decided.source
        and coded_rows.row_type = codes_decided.row_type
        and coded_rows.person_id = codes_decided.person_id
        and coded_rows.visit_occurrence_id = codes_decided.visit_occurrence_id
        and coded_rows.source_value is not distinct from codes_decided.source_value
        and coded_rows.source_concept_id is not distinct from codes_decided.source_concept_id
        and coded_rows.concept_id is not distinct from codes_decided.concept_id

),

medication_events as (

    select
        source,
        person_id as patient_id,
        visit_occurrence_id as admission_id,
        'medication' as event_type,
        'DRUG_TEXT' as code_system,
        drug_text as source_code,
        cast(null as varchar) as normalized_code,
        cast(null as varchar) as source_label,
        ndc,
        route,
        min(first_at) as first_at,
        cast(null as integer) as seq_num,
        cast(sum(n_source_rows) as bigint) as n_source_rows,
        set_aside_reason
    from drug_rows
    group by
        source, person_id, visit_occurrence_id, drug_text, ndc, route, set_aside_reason

)

select * from coded_events
union all
select * from medication_events
