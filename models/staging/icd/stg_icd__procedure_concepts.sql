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
    _file as source_file,
    _row as source_row,
from procedure_concepts
