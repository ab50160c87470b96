with lines as (

    {{ rrf_lines('mrrank', 4) }}

)

select
    try_cast(nullif(fields[1], '') as integer) as name_rank,
    nullif(fields[2], '') as sab,
    nullif(fields[3], '') as tty,
    coalesce(nullif(fields[4], ''), 'N') as suppress,
    line_problem,
    source_file,
    source_row,
from lines
