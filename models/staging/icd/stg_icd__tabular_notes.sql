with notes as (

    select * from {{ raw('icd', 'tabular_notes') }}

)

select
    code,
    note_type,
    note,
    target_codes,
    _file as source_file,
    _row as source_row,
from notes
