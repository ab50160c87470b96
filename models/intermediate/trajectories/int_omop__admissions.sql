-- Visits of OMOP sites in the shape of int_source_admissions; the admission type is a class word.
select
    source,
    person_id as patient_id,
    visit_occurrence_id as admission_id,
    admission_type,
    admitted_at,
    discharged_at,
    set_aside_reason
from {{ ref('int_omop__visits_checked') }}
