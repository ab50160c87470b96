with tree as (

    select * from {{ raw('icd', 'icd9cm_tree') }}

)

select
    code,
    parent_code,
    title,
from tree
