with

raw_admissions as (

    select * from {{ raw('mimic_iv', 'admissions') }}

),

renamed as (

    select
        ---------- ids
        trim(subject_id) as subject_id,
        trim(hadm_id) as hadm_id,

        ---------- strings
        trim(admission_type) as admission_type,

        ---------- timestamps
        try_cast(admittime as timestamp) as admittime,
        try_cast(dischtime as timestamp) as dischtime
    from raw_admissions

)

select * from renamed
