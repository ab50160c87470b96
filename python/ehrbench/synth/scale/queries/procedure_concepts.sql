select
    case when icd_version = 10 then 'ICD10PCS' else 'ICD9PCS' end as code_system,
    case
        when icd_version = 10 then icd10pcs(p)
        else icd9proc(p)[1:2] || '.' || icd9proc(p)[3:4]
    end as code_or_prefix,
    'exact' as match,
    procedure_cui(p) as cui,
    procedure_name(p) as concept_name,
    'therapeutic' as role,
    'synthetic' as origin
from range(getvariable('procedures_known')) as numbers(p)
cross join (values (9), (10)) as versions(icd_version)
order by icd_version, p
