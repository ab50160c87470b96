select
    cast(40000000 + p as varchar) as subject_id,
    cast(50000000 + h as varchar) as hadm_id,
    k as seq_num,
    case when icd_version = 10 then icd10(diagnoses[k]) else icd9(diagnoses[k]) end as icd_code,
    icd_version
from (
    select
        p,
        h,
        icd_version,
        diagnoses,
        unnest(range(1, len(diagnoses) + 1)) as k
    from admissions_drawn
)
