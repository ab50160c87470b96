-- Person rows of OMOP sites with the place in their file and the reason against them.
with

persons as (

    select * from {{ ref('stg_omop__person') }}

),

numbered as (

    select
        *,
        row_number() over (
            partition by source, person_id
            order by source_file, source_row
        ) as copy_number
    from persons

)

select
    source,
    person_id,
    coalesce(person_source_value, person_id) as person_source_value,
    -- Standard concepts of OMOP: 8507 male, 8532 female.
    case
        when gender_concept_id = '8532' then 'female'
        when gender_concept_id = '8507' then 'male'
        when upper(gender_source_value) in ('F', 'FEMALE') then 'female'
        when upper(gender_source_value) in ('M', 'MALE') then 'male'
        else 'unknown'
    end as sex,
    year_of_birth,
    source_file,
    source_row,
    case
        when is_torn_line then 'torn_line'
        when is_header_row then 'header_row'
        when person_id is null then 'missing_key'
        when {{ omop_id_is_torn('person_id') }} then 'torn_id'
        when copy_number > 1 then 'duplicate_key'
    end as set_aside_reason
from numbered
