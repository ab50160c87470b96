-- The first step that hits decides; within it the nearest code. A code with more concepts than
-- max_code_cuis says nothing and is set aside. A code without a concept keeps one row with the
-- reason.
with cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}

),

titles as (

    select * from {{ ref('int_icd_titles') }}

),

candidates as (

    select
        *,
        cast(null as varchar) as procedure_role,
    from {{ ref('int_icd_diagnosis_candidates') }}
    union all
    select * from {{ ref('int_icd_procedure_candidates') }}

),

first_steps as (

    select
        code_system,
        normalized_code,
        min((step, distance)) as first_step,
    from candidates
    group by all

),

chosen as (

    select
        candidates.code_system,
        candidates.normalized_code,
        candidates.cui_id,
        candidates.mapping_method,
        candidates.mapping_level,
        min(candidates.procedure_role) as procedure_role,
    from candidates
    inner join first_steps
        on
            candidates.code_system = first_steps.code_system
            and candidates.normalized_code = first_steps.normalized_code
            and (candidates.step, candidates.distance) = first_steps.first_step
    group by all

),

ranked as (

    select
        *,
        row_number() over (
            partition by code_system, normalized_code
            order by cui_id
        ) as rank,
        count(*) over (partition by code_system, normalized_code) as n_cuis,
    from chosen

),

mapped as (

    select *
    from ranked
    where n_cuis <= {{ var('max_code_cuis') }}

),

quarantined as (

    select
        code_system,
        normalized_code,
        n_cuis,
    from ranked
    where
        n_cuis > {{ var('max_code_cuis') }}
        and rank = 1

),

code_concepts as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        mapped.cui_id,
        cast(coalesce(mapped.rank, 1) as integer) as rank,
        coalesce(mapped.mapping_method, 'none') as mapping_method,
        coalesce(mapped.mapping_level, 'none') as mapping_level,
        case
            when mapped.cui_id is not null then null
            when quarantined.n_cuis is not null then 'too_many_concepts'
            when titles.is_residual_title then 'residual_title'
            else 'no_concept'
        end as reason,
        mapped.procedure_role,
    from cohort_codes
    left join mapped
        on
            cohort_codes.code_system = mapped.code_system
            and cohort_codes.normalized_code = mapped.normalized_code
    left join quarantined
        on
            cohort_codes.code_system = quarantined.code_system
            and cohort_codes.normalized_code = quarantined.normalized_code
    left join titles
        on
            cohort_codes.code_system = titles.code_system
            and cohort_codes.normalized_code = titles.normalized_code

)

select * from code_concepts
