-- Templates of which another asks nearly the same.
with

near_duplicates as (

    select * from {{ ref('int_near_duplicates') }}

),

found as (

    select
        template_key,
        concat(
            'near duplicate of ', count(*), ' other templates, ',
            count(*) filter (where is_one_person), ' of them of the same person'
        ) as evidence
    from near_duplicates
    group by template_key

)

select
    'L26' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from found
