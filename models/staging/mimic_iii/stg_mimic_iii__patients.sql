with

raw_patients as (

    select * from {{ raw('mimic_iii', 'patients') }}

),

renamed as (

    select
        ---------- ids
        nullif(trim(subject_id), '') as subject_id,

        ---------- strings
        upper(trim(gender)) as gender,

        ---------- timestamps
        try_cast(dob as timestamp) as dob,
        try_cast(dod as timestamp) as dod,

        ---------- reading
        {{ unreadable_columns({'dob': 'timestamp', 'dod': 'timestamp'}) }}
            as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_patients

)

select * from renamed
