-- English atoms that are not suppressed; the others are counted in int_terminology_quarantined.
with atoms as (

    select * from {{ ref('stg_umls__atoms') }}

),

active as (

    select
        {{ cui_id('cui') }} as cui_id,
        sab,
        tty,
        code,
        name,
        aui,
        term_status = 'P' and string_type = 'PF' and is_preferred = 'Y' as is_preferred_name,
    from atoms
    where
        language = 'ENG'
        and suppress = 'N'
        and name is not null

)

select *
from active
where cui_id is not null
