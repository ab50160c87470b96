with prescriptions as (

    select distinct trim(drug) as drug_text
    from {{ ref('stg_mimic_iv__prescriptions') }}

),

emar as (

    select distinct trim(medication) as drug_text
    from {{ ref('stg_mimic_iv__emar') }}

),

texts as (

    select drug_text from prescriptions
    union
    select drug_text from emar

)

select *
from texts
where drug_text <> ''
