-- The licensed file has tens of millions of attributes that nothing here reads, so the scan keeps
-- the names in var umls_attribute_names only, and the lines that are no attribute.
with lines as (

    {{ rrf_lines('mrsat', 13) }}

)

select
    nullif(fields[1], '') as cui,
    nullif(fields[9], '') as attribute_name,
    nullif(fields[10], '') as sab,
    nullif(fields[11], '') as attribute_value,
    coalesce(nullif(fields[12], ''), 'N') as suppress,
    line_problem,
    source_file,
    source_row,
from lines
where
    fields[9] in ('{{ var("umls_attribute_names") | join("', '") }}')
    or fields is null
