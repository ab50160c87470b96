with lines as (

    {{ rrf_lines('mrrel', 16) }}

)

select
    nullif(fields[1], '') as cui1,
    nullif(fields[4], '') as rel,
    nullif(fields[5], '') as cui2,
    nullif(fields[8], '') as rela,
    nullif(fields[11], '') as sab,
    coalesce(nullif(fields[15], ''), 'N') as suppress,
    line_problem,
    source_file,
    source_row,
from lines
