with relations as (

    select * from {{ raw('umls', 'mrrel') }}

)

select
    cui1,
    rel,
    cui2,
    rela,
    sab,
    coalesce(suppress, 'N') as suppress,
from relations
