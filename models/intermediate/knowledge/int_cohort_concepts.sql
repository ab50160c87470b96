{{ config(tags=['portable']) }}

with

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

)

select distinct cui_id
from event_concepts
where cui_id is not null
