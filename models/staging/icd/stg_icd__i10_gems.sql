with gems as (

    select * from {{ raw('icd', 'i10_gems') }}

)

select
    rtrim(substr(line, 1, 7)) as source_code,
    rtrim(substr(line, 9, 5)) as target_code,
    substr(line, 15, 1) = '1' as is_approximate,
    substr(line, 16, 1) = '1' as is_no_map,
    substr(line, 17, 1) = '1' as is_combination,
    try_cast(substr(line, 18, 1) as integer) as scenario,
    try_cast(substr(line, 19, 1) as integer) as choice_list,
from gems
