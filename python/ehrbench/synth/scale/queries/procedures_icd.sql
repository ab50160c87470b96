select
    cast(40000000 + p as varchar) as subject_id,
    cast(50000000 + h as varchar) as hadm_id,
    k + 1 as seq_num,
    strftime(admitted, '%Y-%m-%d') as chartdate,
    case when icd_version = 10 then icd10pcs(done) else icd9proc(done) end as icd_code,
    icd_version
from (
    select
        *,
        case
            when part(m, 0) < 0.6
                then operation(
                    diagnoses[cast(1 + m % len(diagnoses) as integer)], floor(part(m, 1) * 2)
                )
            else common(getvariable('procedures_known'), part(m, 2), 3)
        end as done
    from drawn_in_visits('procedure', 10, n_procedures)
)
