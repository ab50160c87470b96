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
        try_cast(stoptime as timestamp) as stoptime,

        ---------- reading
        {{ unreadable_columns({'starttime': 'timestamp', 'stoptime': 'timestamp'}) }}
            as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_prescriptions

)

select * from renamed
