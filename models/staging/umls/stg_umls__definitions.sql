with lines as (

    {{ rrf_lines('mrdef', 8) }}

)

select
    nullif(fields[1], '') as cui,
    nullif(fields[5], '') as sab,
    nullif(fields[6], '') as definition,
    coalesce(nullif(fields[7], ''), 'N') as suppress,
    line_problem,
    source_file,
    source_row,
from lines
