{{ config(materialized='view') }}

-- Rows of OMOP files that cannot be used (set_aside) or are used without what was wrong (repaired).
-- The models of patients, visits and events set the same rows aside for the same reasons.
with

persons as (

    select * from {{ ref('int_omop__persons_checked') }}

),

visits as (

    select * from {{ ref('int_omop__visits_checked') }}

),

conditions as (

    select
        *,
        condition_source_value is null and condition_concept_id is null
            and condition_source_concept_id is null as is_empty
    from {{ ref('stg_omop__condition_occurrence') }}

),

drugs as (

    select
        *,
        drug_source_value is null and drug_concept_id is null
            and drug_source_concept_id is null as is_empty
    from {{ ref('stg_omop__drug_exposure') }}

),

procedures as (

    select
        *,
        procedure_source_value is null and procedure_concept_id is null
            and procedure_source_concept_id is null as is_empty
    from {{ ref('stg_omop__procedure_occurrence') }}

),

judged as (

    select
        source,
        'person' as table_name,
        source_file,
        source_row,
        set_aside_reason,
        cast(null as varchar) as repair_reason
    from persons
    union all
    select
        source,
        'visit_occurrence' as table_name,
        source_file,
        source_row,
        set_aside_reason,
        repair_reason
    from visits

    {%- for cte, table_name, empty_reason in [
        ('conditions', 'condition_occurrence', 'missing_code'),
        ('drugs', 'drug_exposure', 'missing_drug_text'),
        ('procedures', 'procedure_occurrence', 'missing_code'),
    ] %}
    union all
    select
        source,
        '{{ table_name }}' as table_name,
        source_file,
        source_row,
        case
            when is_torn_line then 'torn_line'
            when is_header_row then 'header_row'
            when person_id is null then 'missing_key'
            when {{ omop_id_is_torn('person_id') }}
                or {{ omop_id_is_torn('visit_occurrence_id') }}
                then 'torn_id'
            when is_empty then '{{ empty_reason }}'
        end as set_aside_reason,
        case when unreadable_columns is not null then 'unreadable_date' end as repair_reason
    from {{ cte }}
    {%- endfor %}

)

select
    concat(source, '.', table_name) as source_table,
    source_file as file,
    cast(source_row as bigint) as row,
    coalesce(set_aside_reason, repair_reason) as reason,
    case when set_aside_reason is not null then 'set_aside' else 'repaired' end as action
from judged
where set_aside_reason is not null
    or repair_reason is not null
