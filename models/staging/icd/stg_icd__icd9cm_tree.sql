with tree as (

    select * from {{ raw('icd', 'icd9cm_tree') }}

)

select
    code,
    parent_code,
    title,
    _file as source_file,
    _row as source_row,
from tree
