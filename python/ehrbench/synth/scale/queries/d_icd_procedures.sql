select
    case when icd_version = 10 then icd10pcs(p) else icd9proc(p) end as icd_code,
    icd_version,
    procedure_name(p) as long_title
from range(getvariable('procedures_known')) as numbers(p)
cross join (values (9), (10)) as versions(icd_version)
order by icd_version, p
