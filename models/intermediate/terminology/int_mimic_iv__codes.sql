with d_icd_diagnoses as (

    select * from {{ ref('stg_mimic_iv__d_icd_diagnoses') }}

),

d_icd_procedures as (

    select * from {{ ref('stg_mimic_iv__d_icd_procedures') }}

),

diagnoses_icd as (

    select distinct
        icd_code,
        icd_version,
    from {{ ref('stg_mimic_iv__diagnoses_icd') }}

),

procedures_icd as (

    select distinct
        icd_code,
        icd_version,
    from {{ ref('stg_mimic_iv__procedures_icd') }}

),

codes as (

    select
        {{ icd_code_system('icd_version', 'diagnosis') }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', 'diagnosis') }} as normalized_code,
        long_title as label,
        false as is_coded,
    from d_icd_diagnoses
    union all
    select
        {{ icd_code_system('icd_version', 'procedure') }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', 'procedure') }} as normalized_code,
        long_title as label,
        false as is_coded,
    from d_icd_procedures
    union all
    select
        {{ icd_code_system('icd_version', 'diagnosis') }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', 'diagnosis') }} as normalized_code,
        cast(null as varchar) as label,
        true as is_coded,
    from diagnoses_icd
    union all
    select
        {{ icd_code_system('icd_version', 'procedure') }} as code_system,
        {{ normalize_icd('icd_code', 'icd_version', 'procedure') }} as normalized_code,
        cast(null as varchar) as label,
        true as is_coded,
    from procedures_icd

),

merged as (

    select
        code_system,
        normalized_code,
        min(label) as label,
        bool_or(is_coded) as is_coded,
    from codes
    group by all
    -- a `where` would be moved down and normalise every row instead of every code
    having
        count(code_system) > 0
        and count(normalized_code) > 0

)

select * from merged
