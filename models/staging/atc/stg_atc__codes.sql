with codes as (

    select * from {{ raw('atc', 'atc_codes') }}

)

select
    atc_code,
    try_cast(level as integer) as level,
    parent_code,
    name,
from codes
