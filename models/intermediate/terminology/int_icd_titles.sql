-- One title per code: the cohort's dictionary first, then the official files, then the titles of
-- categories. The class says whether the title stands for the disease or for a remainder.
with cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}

),

title_patterns as (

    select * from {{ ref('title_patterns') }}

),

titles as (

    select
        code_system,
        normalized_code,
        label as title,
        1 as title_rank,
    from cohort_codes
    where label is not null
    union all
    select
        'ICD9CM' as code_system,
        {{ normalize_icd('code', 9, 'diagnosis') }} as normalized_code,
        title,
        2 as title_rank,
    from {{ ref('stg_icd__icd9cm_titles') }}
    union all
    select
        'ICD10CM' as code_system,
        {{ normalize_icd('code', 10, 'diagnosis') }} as normalized_code,
        title,
        2 as title_rank,
    from {{ ref('stg_icd__icd10cm_titles') }}
    union all
    select
        'ICD9PROC' as code_system,
        {{ normalize_icd('code', 9, 'procedure') }} as normalized_code,
        title,
        2 as title_rank,
    from {{ ref('stg_icd__icd9proc_titles') }}
    union all
    select
        'ICD10PCS' as code_system,
        {{ normalize_icd('code', 10, 'procedure') }} as normalized_code,
        title,
        2 as title_rank,
    from {{ ref('stg_icd__icd10pcs_titles') }}
    union all
    select
        'ICD9CM' as code_system,
        {{ normalize_icd('code', 9, 'diagnosis') }} as normalized_code,
        title,
        3 as title_rank,
    from {{ ref('stg_icd__icd9cm_tree') }}
    union all
    select
        'ICD10CM' as code_system,
        {{ normalize_icd('code', 10, 'diagnosis') }} as normalized_code,
        title,
        3 as title_rank,
    from {{ ref('stg_icd__icd10cm_tree') }}

),

best_titles as (

    select
        code_system,
        normalized_code,
        min(title_rank) as best_rank,
    from titles
    where
        normalized_code is not null
        and title <> ''
    group by all

),

code_titles as (

    select
        titles.code_system,
        titles.normalized_code,
        min(titles.title) as title,
    from titles
    inner join best_titles
        on
            titles.code_system = best_titles.code_system
            and titles.normalized_code = best_titles.normalized_code
            and titles.title_rank = best_titles.best_rank
    where titles.title <> ''
    group by all

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

-- procedures have no residual class: their titles state what was done
diagnosis_titles as (

    select distinct
        code_titles.title,
        {{ norm_label('code_titles.title') }} as title_text,
    from code_titles
    inner join code_systems
        on
            code_titles.code_system = code_systems.code_system
            and code_systems.code_kind = 'diagnosis'

),

matches as (

    select
        'diagnosis' as code_kind,
        diagnosis_titles.title,
        min_by(title_patterns.title_class, title_patterns.pattern_rank) as title_class,
    from diagnosis_titles
    inner join title_patterns
        on diagnosis_titles.title_text like title_patterns.pattern
    group by all

),

classed as (

    select
        code_titles.code_system,
        code_titles.normalized_code,
        code_titles.title,
        coalesce(matches.title_class, 'plain') as title_class,
        coalesce(matches.title_class in ('other', 'nec'), false) as is_residual_title,
        coalesce(matches.title_class = 'unspecified', false) as is_unspecified_title,
    from code_titles
    left join code_systems
        on code_titles.code_system = code_systems.code_system
    left join matches
        on
            code_titles.title = matches.title
            and code_systems.code_kind = matches.code_kind

)

select * from classed
