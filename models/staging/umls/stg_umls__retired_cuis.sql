with lines as (

    {{ rrf_lines('mrcui', 7) }}

)

select
    nullif(fields[1], '') as cui,
    nullif(fields[3], '') as rel,
    nullif(fields[6], '') as replacement_cui,
    line_problem,
    source_file,
    source_row,
from lines
