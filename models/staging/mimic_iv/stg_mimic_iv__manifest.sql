with

raw_manifest as (

    select * from {{ raw('mimic_iv', 'manifest') }}

)

select line
from raw_manifest
