with

raw_manifest as (

    select * from {{ raw('mimic_iii', 'manifest') }}

)

select line
from raw_manifest
