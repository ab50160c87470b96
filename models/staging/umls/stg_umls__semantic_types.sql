with semantic_types as (

    select * from {{ raw('umls', 'mrsty') }}

)

select
    cui,
    tui,
    sty,
from semantic_types
