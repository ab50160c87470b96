select
    icd10_category(d) as code,
    cast(null as varchar) as parent_code,
    'Diseases like ' || lower(diagnosis_name(d)) as title
from range(0, getvariable('diagnoses_known'), 9) as numbers(d)
union all
select
    icd10_category(d) || '.' || (d % 9 + 1) as code,
    icd10_category(d) as parent_code,
    diagnosis_name(d) as title
from range(getvariable('diagnoses_known')) as numbers(d)
order by code
