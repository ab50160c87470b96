-- Drug records whose type says that a dose reached the patient. A prescription is no record of a
-- dose, so visits without any such record stay unknown.
with

drug_rows as (

    select * from {{ ref('int_omop__drug_rows') }}

)

select
    source,
    visit_occurrence_id as admission_id,
    drug_text,
    ndc,
    cast(sum(n_source_rows) as bigint) as n_records,
    cast(sum(n_source_rows) as bigint) as n_administered
from drug_rows
where is_administered
    and set_aside_reason is null
group by source, visit_occurrence_id, drug_text, ndc
