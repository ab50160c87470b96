with titles as (

    select * from {{ raw('icd', 'icd10cm_titles') }}

)

select
    regexp_extract(line, '^\S+') as code,
    trim(regexp_replace(line, '^\S+\s+', '')) as title,
    case
        when not coalesce(regexp_matches(line, '^[A-Z0-9.]+\s+\S'), false) then 'no_title'
    end as line_problem,
    _file as source_file,
    _row as source_row,
from titles
