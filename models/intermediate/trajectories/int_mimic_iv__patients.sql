-- One row per patient row of MIMIC-IV; rows that cannot be used keep their reason.
with

patients as (

    select * from {{ ref('stg_mimic_iv__patients') }}

),

numbered as (

    select
        *,
        row_number() over (
            partition by subject_id
            order by anchor_year, anchor_age, gender, anchor_year_group, dod
        ) as copy_number
    from patients

)

select
    cast('mimic_iv' as varchar) as source,
    subject_id as patient_id,
    -- The id by which another source may hold the same person.
    subject_id as person_id,
    case upper(gender) when 'F' then 'female' when 'M' then 'male' else 'unknown' end as sex,
    -- Numbers that no integer holds the difference of are damage.
    try(anchor_year - anchor_age) as birth_year,
    case
        when is_torn_line then 'torn_line'
        {{ mimic_key_reasons({'subject_id': 'subject_id'}) }}
        when copy_number > 1 then 'duplicate_key'
    end as set_aside_reason
from numbered
