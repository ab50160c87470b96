with lines as (

    {{ rrf_lines('mrsty', 6) }}

)

select
    nullif(fields[1], '') as cui,
    nullif(fields[2], '') as tui,
    nullif(fields[4], '') as sty,
    line_problem,
    source_file,
    source_row,
from lines
