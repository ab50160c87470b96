with ingredients as (

    select * from {{ raw('atc', 'ingredient_atc') }}

)

select
    cui,
    ingredient_name,
    atc_code,
from ingredients
