with codes as (

    {%- for table_name, code_system, code_kind, label in [
        ('d_icd_diagnoses', 'ICD9CM', 'diagnosis', 'long_title'),
        ('d_icd_procedures', 'ICD9PROC', 'procedure', 'long_title'),
        ('diagnoses_icd', 'ICD9CM', 'diagnosis', 'cast(null as varchar)'),
        ('procedures_icd', 'ICD9PROC', 'procedure', 'cast(null as varchar)'),
    ] %}
    select distinct
        '{{ code_system }}' as code_system,
        {{ normalize_icd('icd9_code', 9, code_kind) }} as normalized_code,
        {{ label }} as label,
        {{ label != 'long_title' }} as is_coded,
    from {{ ref('stg_mimic_iii__' ~ table_name) }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

merged as (

    -- A code that occurs and that the dictionary lacks has no label.
    select
        code_system,
        normalized_code,
        min(label) as label,
        bool_or(is_coded) as is_coded,
    from codes
    where normalized_code is not null
    group by all

)

select * from merged
