-- Patients of OMOP sites in the shape of int_source_patients. The person's source value is the id
-- by which another source may hold the same person.
select
    source,
    person_id as patient_id,
    person_source_value as person_id,
    sex,
    year_of_birth as birth_year,
    set_aside_reason
from {{ ref('int_omop__persons_checked') }}
