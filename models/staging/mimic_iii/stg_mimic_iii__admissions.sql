with

raw_admissions as (

    select * from {{ raw('mimic_iii', 'admissions') }}

),

renamed as (

    select
        ---------- ids
        nullif(trim(subject_id), '') as subject_id,
        nullif(trim(hadm_id), '') as hadm_id,

        ---------- strings
        trim(admission_type) as admission_type,
        trim(ethnicity) as ethnicity,

        ---------- timestamps
        try_cast(admittime as timestamp) as admittime,
        try_cast(dischtime as timestamp) as dischtime,

        ---------- reading
        {{ unreadable_columns({'admittime': 'timestamp', 'dischtime': 'timestamp'}) }}
            as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_admissions

)

select * from renamed
