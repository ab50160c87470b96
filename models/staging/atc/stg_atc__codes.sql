with codes as (

    select * from {{ raw('atc', 'atc_codes') }}

)

select
    atc_code,
    try_cast(level as integer) as level,
    parent_code,
    name,
    _file as source_file,
    _row as source_row,
from codes
