with

raw_procedures_icd as (

    select * from {{ raw('mimic_iv', 'procedures_icd') }}

),

renamed as (

    select
        ---------- ids
        trim(subject_id) as subject_id,
        trim(hadm_id) as hadm_id,

        ---------- strings
        trim(icd_code) as icd_code,

        ---------- numbers
        try_cast(seq_num as integer) as seq_num,
        try_cast(icd_version as integer) as icd_version,

        ---------- timestamps
        try_cast(chartdate as timestamp) as chartdate,

        ---------- reading
        {{ unreadable_columns({'seq_num': 'integer', 'icd_version': 'integer',
            'chartdate': 'timestamp'}) }}
            as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_procedures_icd

)

select * from renamed
