with titles as (

    select * from {{ raw('icd', 'icd10pcs_titles') }}

)

select
    regexp_extract(line, '^\S+') as code,
    trim(regexp_replace(line, '^\S+\s+', '')) as title,
from titles
