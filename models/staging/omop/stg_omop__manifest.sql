with

raw_manifest as (

    select * from {{ raw('omop', 'manifest') }}

)

select line
from raw_manifest
