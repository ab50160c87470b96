-- The licensed file has tens of millions of attributes that nothing here reads, so the scan keeps
-- the names in var umls_attribute_names only.
with attributes as (

    select * from {{ raw('umls', 'mrsat') }}

)

select
    cui,
    atn as attribute_name,
    sab,
    atv as attribute_value,
    coalesce(suppress, 'N') as suppress,
from attributes
where atn in ('{{ var("umls_attribute_names") | join("', '") }}')
