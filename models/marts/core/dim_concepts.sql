with

concepts as (

    select * from {{ ref('int_concepts') }}

)

select
    cui,
    cui_id,
    name,
    semantic_group,
    definition,
    is_unspecified
from concepts
