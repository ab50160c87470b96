with

raw_d_icd_diagnoses as (

    select * from {{ raw('mimic_iv', 'd_icd_diagnoses') }}

),

renamed as (

    select
        ---------- strings
        trim(icd_code) as icd_code,
        long_title,

        ---------- numbers
        try_cast(icd_version as integer) as icd_version
    from raw_d_icd_diagnoses

)

select * from renamed
