with

raw_icustays as (

    select * from {{ raw('mimic_iii', 'icustays') }}

),

renamed as (

    select
        ---------- ids
        nullif(trim(subject_id), '') as subject_id,
        nullif(trim(hadm_id), '') as hadm_id,
        nullif(trim(icustay_id), '') as icustay_id,

        ---------- strings
        lower(trim(dbsource)) as dbsource,

        ---------- reading
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_icustays

)

select * from renamed
