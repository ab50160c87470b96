with prescriptions as (

    select distinct drug as drug_text
    from {{ ref('stg_mimic_iii__prescriptions') }}

)

select drug_text
from prescriptions
where drug_text is not null
