{{ config(tags=['portable']) }}

with

concept_relatives as (

    select * from {{ ref('int_concept_relatives') }}

)

select distinct relative_cui_id as cui_id
from concept_relatives
