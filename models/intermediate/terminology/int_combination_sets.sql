-- The set of parts of a combination as one text, so that a set of ingredients finds it.
with parts as (

    select * from {{ ref('int_combination_parts') }}

),

sets as (

    select
        combination_cui_id,
        string_agg(cast(part_cui_id as varchar), ' ' order by part_cui_id) as part_set,
    from parts
    group by all

)

select
    part_set,
    min(combination_cui_id) as combination_cui_id,
from sets
group by all
