with retired_cuis as (

    select * from {{ raw('umls', 'mrcui') }}

)

select
    cui1 as cui,
    rel,
    cui2 as replacement_cui,
from retired_cuis
