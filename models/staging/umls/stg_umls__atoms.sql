with lines as (

    {{ rrf_lines('mrconso', 18) }}

)

select
    nullif(fields[1], '') as cui,
    nullif(fields[2], '') as language,
    nullif(fields[3], '') as term_status,
    nullif(fields[5], '') as string_type,
    nullif(fields[7], '') as is_preferred,
    nullif(fields[8], '') as aui,
    nullif(fields[12], '') as sab,
    nullif(fields[13], '') as tty,
    nullif(fields[14], '') as code,
    nullif(fields[15], '') as name,
    coalesce(nullif(fields[17], ''), 'N') as suppress,
    line_problem,
    source_file,
    source_row,
from lines
