with

raw_procedures_icd as (

    select * from {{ raw('mimic_iii', 'procedures_icd') }}

),

renamed as (

    select
        ---------- ids
        nullif(trim(subject_id), '') as subject_id,
        nullif(trim(hadm_id), '') as hadm_id,

        ---------- strings
        nullif(trim(icd9_code), '') as icd9_code,

        ---------- numbers
        try_cast(seq_num as integer) as seq_num,

        ---------- reading
        {{ unreadable_columns({'seq_num': 'integer'}) }}
            as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_procedures_icd

)

select * from renamed
