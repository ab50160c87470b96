with i9_gems as (

    select * from {{ ref('stg_icd__i9_gems') }}

),

i10_gems as (

    select * from {{ ref('stg_icd__i10_gems') }}

),

gems as (

    select
        'ICD9CM' as code_system,
        {{ normalize_icd('source_code', 9, 'diagnosis') }} as normalized_code,
        'ICD10CM' as target_system,
        {{ normalize_icd('target_code', 10, 'diagnosis') }} as target_code,
        is_approximate,
        is_no_map,
        is_combination,
    from i9_gems
    union all
    select
        'ICD10CM' as code_system,
        {{ normalize_icd('source_code', 10, 'diagnosis') }} as normalized_code,
        'ICD9CM' as target_system,
        {{ normalize_icd('target_code', 9, 'diagnosis') }} as target_code,
        is_approximate,
        is_no_map,
        is_combination,
    from i10_gems

),

-- a target may be listed once alone and once within a combination: the plainest row counts
merged as (

    select
        code_system,
        normalized_code,
        target_system,
        target_code,
        bool_and(is_combination) as is_combination,
        bool_and(is_approximate or is_combination) as is_approximate,
    from gems
    where
        not is_no_map
        and normalized_code is not null
        and target_code is not null
    group by all

),

counted as (

    select
        *,
        count(*) over (partition by code_system, normalized_code) as n_targets,
    from merged

)

select * from counted
