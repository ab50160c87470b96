with

raw_patients as (

    select * from {{ raw('mimic_iv', 'patients') }}

),

renamed as (

    select
        ---------- ids
        trim(subject_id) as subject_id,

        ---------- strings
        gender,
        anchor_year_group,

        ---------- numbers
        try_cast(anchor_age as integer) as anchor_age,
        try_cast(anchor_year as integer) as anchor_year,

        ---------- timestamps
        try_cast(dod as timestamp) as dod,

        ---------- reading
        {{ unreadable_columns({'anchor_age': 'integer', 'anchor_year': 'integer',
            'dod': 'timestamp'}) }}
            as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_patients

)

select * from renamed
