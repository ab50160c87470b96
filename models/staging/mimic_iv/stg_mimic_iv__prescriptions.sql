with

raw_prescriptions as (

    select * from {{ raw('mimic_iv', 'prescriptions') }}

),

renamed as (

    select
        ---------- ids
        trim(subject_id) as subject_id,
        trim(hadm_id) as hadm_id,
        trim(pharmacy_id) as pharmacy_id,

        ---------- strings
        drug_type,
        drug,
        ndc,
        route,

        ---------- timestamps
        try_cast(starttime as timestamp) as starttime,
        try_cast(stoptime as timestamp) as stoptime
    from raw_prescriptions

)

select * from renamed
