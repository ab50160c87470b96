-- Every ICD code that some dictionary knows, without its dot: what a bare source value may be.
with titles as (

    select 'ICD9CM' as code_system, icd_code as code
    from {{ ref('stg_mimic_iv__d_icd_diagnoses') }}
    where icd_version = 9
    union all
    select 'ICD10CM' as code_system, icd_code as code
    from {{ ref('stg_mimic_iv__d_icd_diagnoses') }}
    where icd_version = 10
    union all
    select 'ICD9PROC' as code_system, icd_code as code
    from {{ ref('stg_mimic_iv__d_icd_procedures') }}
    where icd_version = 9
    union all
    select 'ICD10PCS' as code_system, icd_code as code
    from {{ ref('stg_mimic_iv__d_icd_procedures') }}
    where icd_version = 10
    union all
    select 'ICD9CM' as code_system, icd9_code as code
    from {{ ref('stg_mimic_iii__d_icd_diagnoses') }}
    union all
    select 'ICD9PROC' as code_system, icd9_code as code
    from {{ ref('stg_mimic_iii__d_icd_procedures') }}
    union all
    select 'ICD9CM' as code_system, code
    from {{ ref('stg_icd__icd9cm_titles') }}
    union all
    select 'ICD10CM' as code_system, code
    from {{ ref('stg_icd__icd10cm_titles') }}
    union all
    select 'ICD9PROC' as code_system, code
    from {{ ref('stg_icd__icd9proc_titles') }}
    union all
    select 'ICD10PCS' as code_system, code
    from {{ ref('stg_icd__icd10pcs_titles') }}
    union all
    select 'ICD9CM' as code_system, code
    from {{ ref('stg_icd__icd9cm_tree') }}
    union all
    select 'ICD10CM' as code_system, code
    from {{ ref('stg_icd__icd10cm_tree') }}

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

version_ranks as (

    select
        code_system,
        min(version_rank) as version_rank,
    from {{ ref('omop_vocabularies') }}
    group by all

),

dictionary as (

    select distinct
        code_systems.code_kind,
        {{ normalize_icd('titles.code', 'code_systems.icd_version', 'code_systems.code_kind') }}
            as normalized_code,
        titles.code_system,
        version_ranks.version_rank,
    from titles
    inner join code_systems
        on titles.code_system = code_systems.code_system
    left join version_ranks
        on titles.code_system = version_ranks.code_system

)

select
    code_kind,
    replace(normalized_code, '.', '') as bare_code,
    code_system,
    normalized_code,
    version_rank,
from dictionary
where normalized_code is not null
