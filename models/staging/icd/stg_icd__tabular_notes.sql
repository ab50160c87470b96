with notes as (

    select * from {{ raw('icd', 'tabular_notes') }}

)

select
    code,
    note_type,
    note,
    target_codes,
from notes
