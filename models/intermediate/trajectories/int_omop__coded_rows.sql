-- Conditions and procedures of OMOP sites, one row per visit x what was recorded x day,
-- with the reason that keeps them from being events. Aggregated before any look-up.
with

condition_occurrences as (

    select * from {{ ref('stg_omop__condition_occurrence') }}

),

procedure_occurrences as (

    select * from {{ ref('stg_omop__procedure_occurrence') }}

),

type_concepts as (

    select * from {{ ref('omop_type_concepts') }}

),

conditions_aggregated as (

    select
        source,
        'diagnosis' as row_type,
        person_id,
        visit_occurrence_id,
        condition_concept_id as concept_id,
        condition_source_concept_id as source_concept_id,
        condition_source_value as source_value,
        condition_type_concept_id as type_concept_id,
        date_trunc('day', condition_start_date) as first_at,
        is_header_row,
        is_torn_line,
        count(*) as n_source_rows
    from condition_occurrences
    group by all

),

procedures_aggregated as (

    select
        source,
        'procedure' as row_type,
        person_id,
        visit_occurrence_id,
        procedure_concept_id as concept_id,
        procedure_source_concept_id as source_concept_id,
        procedure_source_value as source_value,
        procedure_type_concept_id as type_concept_id,
        date_trunc('day', coalesce(procedure_date, procedure_datetime)) as first_at,
        is_header_row,
        is_torn_line,
        count(*) as n_source_rows
    from procedure_occurrences
    group by all

),

united as (

    select * from conditions_aggregated
    union all
    select * from procedures_aggregated

),

types as (

    -- The rule with the longest pattern of sites decides.
    select
        kinds.source,
        kinds.row_type,
        kinds.type_concept_id,
        type_concepts.record_type,
        type_concepts.set_aside_reason
    from (select distinct source, row_type, type_concept_id from united) as kinds
    inner join type_concepts
        on kinds.row_type = type_concepts.row_type
        and kinds.type_concept_id = type_concepts.type_concept_id
        and kinds.source like type_concepts.source_pattern
    qualify row_number() over (
        partition by kinds.source, kinds.row_type, kinds.type_concept_id
        order by length(type_concepts.source_pattern) desc, type_concepts.source_pattern
    ) = 1

)

select
    united.source,
    united.row_type,
    united.person_id,
    united.visit_occurrence_id,
    united.concept_id,
    united.source_concept_id,
    united.source_value,
    coalesce(types.record_type, 'other') as record_type,
    cast(united.first_at as timestamp) as first_at,
    united.n_source_rows,
    case
        when united.is_torn_line then 'torn_line'
        when united.is_header_row then 'header_row'
        when united.person_id is null then 'missing_key'
        when {{ omop_id_is_torn('united.person_id') }}
            or {{ omop_id_is_torn('united.visit_occurrence_id') }}
            then 'torn_id'
        when united.source_value is null and united.concept_id is null
            and united.source_concept_id is null
            then 'missing_code'
        when types.set_aside_reason is not null then types.set_aside_reason
        when united.visit_occurrence_id is null then 'no_visit'
    end as set_aside_reason
from united
left join types
    on united.source = types.source
    and united.row_type = types.row_type
    and united.type_concept_id is not distinct from types.type_concept_id
