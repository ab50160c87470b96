-- One row per patient row of MIMIC-III; rows that cannot be used, or that the rule
-- mimic_iii_stays leaves out, keep their reason.
with

patients as (

    select * from {{ ref('stg_mimic_iii__patients') }}

),

first_admissions as (

    select
        subject_id,
        min(admittime) as admittime
    from {{ ref('stg_mimic_iii__admissions') }}
    group by subject_id

),

bad_rows as (

    select * from {{ ref('int_mimic_iii__bad_rows') }}
    where source_table = 'mimic_iii.patients'
        and action = 'set_aside'

),

stay_rule as (

    select * from {{ ref('int_mimic_iii__stay_rule') }}

)

select
    cast('mimic_iii' as varchar) as source,
    patients.subject_id as patient_id,
    -- The id by which another source may hold the same person.
    patients.subject_id as person_id,
    case patients.gender when 'F' then 'female' when 'M' then 'male' else 'unknown' end as sex,
    -- The very old were moved to an age of about 300: their year of birth is not known.
    case
        when date_diff(
            'year', patients.dob, coalesce(first_admissions.admittime, patients.dod, patients.dob)
        ) <= {{ var('max_age_years') }}
            then cast(date_part('year', patients.dob) as integer)
    end as birth_year,
    coalesce(bad_rows.reason, stay_rule.set_aside_reason) as set_aside_reason
from patients
left join first_admissions
    on patients.subject_id = first_admissions.subject_id
left join bad_rows
    on patients.source_row = bad_rows.row
left join stay_rule
    on patients.subject_id = stay_rule.subject_id
