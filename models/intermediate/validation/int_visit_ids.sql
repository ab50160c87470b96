{{ config(tags=['portable']) }}

with

visits as (

    select * from {{ ref('dim_visits') }}

)

select
    visit_key,
    cast(row_number() over (order by visit_key) as integer) as visit_id
from visits
