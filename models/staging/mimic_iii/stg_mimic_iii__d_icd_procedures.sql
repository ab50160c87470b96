with

raw_d_icd_procedures as (

    select * from {{ raw('mimic_iii', 'd_icd_procedures') }}

),

renamed as (

    select
        ---------- strings
        trim(icd9_code) as icd9_code,
        long_title
    from raw_d_icd_procedures

)

select * from renamed
