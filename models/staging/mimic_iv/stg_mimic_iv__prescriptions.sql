with

raw_prescriptions as (

    select * from {{ raw('mimic_iv', 'prescriptions') }}

),

renamed as (

    select
        ---------- ids
        trim(subject_id) as subject_id,
        trim(hadm_id) as hadm_id,

        ---------- strings
        drug,
        ndc,
        route,

        ---------- numbers
        try_cast(pharmacy_id as bigint) as pharmacy_id,

        ---------- timestamps
        try_cast(starttime as timestamp) as starttime,

        ---------- reading
        {{ unreadable_columns({'starttime': 'timestamp'}) }} as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_prescriptions

)

select * from renamed
