{{ config(severity='warn') }}
-- Admission types that only the catch-all row of seed visit_classes takes.
select
    admissions.source,
    admissions.admission_type,
    count(*) as n_admissions
from {{ ref('int_admissions_merged') }} as admissions
left join {{ ref('visit_classes') }} as visit_classes
    on visit_classes.source in (admissions.source, '*')
    and visit_classes.admission_type = admissions.admission_type
where visit_classes.visit_class is null
group by admissions.source, admissions.admission_type
