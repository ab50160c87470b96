with ingredients as (

    select * from {{ raw('atc', 'ingredient_atc') }}

)

select
    cui,
    ingredient_name,
    atc_code,
    _file as source_file,
    _row as source_row,
from ingredients
