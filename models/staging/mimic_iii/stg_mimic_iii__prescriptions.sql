{%- set row_columns = [
    'subject_id', 'hadm_id', 'icustay_id', 'startdate', 'enddate', 'drug_type', 'drug',
    'drug_name_poe', 'drug_name_generic', 'formulary_drug_cd', 'gsn', 'ndc', 'prod_strength',
    'dose_val_rx', 'dose_unit_rx', 'form_val_disp', 'form_unit_disp', 'route',
] -%}
with

raw_prescriptions as (

    select * from {{ raw('mimic_iii', 'prescriptions') }}

),

renamed as (

    select
        ---------- ids
        nullif(trim(subject_id), '') as subject_id,
        nullif(trim(hadm_id), '') as hadm_id,

        ---------- strings
        nullif(trim(drug), '') as drug,
        ndc,
        route,

        ---------- numbers
        -- Equal in all columns but the surrogate row_id: an exact duplicate.
        md5_number(concat_ws('|'
            {%- for column in row_columns %}, coalesce({{ column }}, '∅'){% endfor -%}
        )) as row_digest,

        ---------- timestamps
        -- A day, written as its midnight.
        try_cast(startdate as timestamp) as startdate,

        ---------- reading
        {{ unreadable_columns({'startdate': 'timestamp'}) }}
            as unreadable_columns,
        _file as source_file,
        _row as source_row,
        {{ swallowed_lines() }} as is_torn_line
    from raw_prescriptions

)

select * from renamed
