with

raw_emar as (

    select * from {{ raw('mimic_iv', 'emar') }}

),

renamed as (

    select
        ---------- ids
        trim(subject_id) as subject_id,
        trim(hadm_id) as hadm_id,

        ---------- strings
        medication,
        trim(event_txt) as event_txt,

        ---------- numbers
        try_cast(pharmacy_id as bigint) as pharmacy_id,

        ---------- timestamps
        try_cast(charttime as timestamp) as charttime
    from raw_emar

)

select * from renamed
