with atoms as (

    select * from {{ raw('umls', 'mrconso') }}

)

select
    cui,
    lat as language,
    ts as term_status,
    stt as string_type,
    ispref as is_preferred,
    aui,
    sab,
    tty,
    code,
    str as name,
    coalesce(suppress, 'N') as suppress,
from atoms
