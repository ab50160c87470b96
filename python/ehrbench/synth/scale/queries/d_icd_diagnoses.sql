select
    case when icd_version = 10 then icd10(d) else icd9(d) end as icd_code,
    icd_version,
    diagnosis_name(d) as long_title
from range(getvariable('diagnoses_known')) as numbers(d)
cross join (values (9), (10)) as versions(icd_version)
order by icd_version, d
