with procedure_concepts as (

    select * from {{ raw('icd', 'procedure_concepts') }}

)

select
    code_system,
    code_or_prefix,
    match,
    cui,
    concept_name,
    role,
from procedure_concepts
