-- The first step that hits decides; within it the nearest code. What code_overrides says comes
-- before every step. A code with more concepts than max_code_cuis says nothing and is set aside. A
-- code without a concept keeps one row with the reason.
with code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

cohort_codes as (

    select cohort_codes.*
    from {{ ref('int_cohort_codes') }} as cohort_codes
    inner join code_systems
        on cohort_codes.code_system = code_systems.code_system

),

code_overrides as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        code_overrides.cui_id,
        code_overrides.is_none,
    from {{ ref('int_code_overrides') }} as code_overrides
    inner join cohort_codes
        on
            code_overrides.code_system = cohort_codes.code_system
            and code_overrides.override_key = cohort_codes.normalized_code

),

titles as (

    select * from {{ ref('int_icd_titles') }}

),

found_candidates as (

    select
        *,
        cast(null as varchar) as procedure_role,
    from {{ ref('int_icd_diagnosis_candidates') }}
    union all
    select * from {{ ref('int_icd_procedure_candidates') }}

),

-- an override names another concept, the code still does what it did
roles as (

    select
        code_system,
        normalized_code,
        min_by(procedure_role, (step, distance, procedure_role)) as procedure_role,
    from found_candidates
    where procedure_role is not null
    group by all

),

override_candidates as (

    select
        code_overrides.code_system,
        code_overrides.normalized_code,
        0 as step,
        'override' as mapping_method,
        'exact' as mapping_level,
        code_overrides.cui_id,
        0 as distance,
        roles.procedure_role,
    from code_overrides
    left join roles
        on
            code_overrides.code_system = roles.code_system
            and code_overrides.normalized_code = roles.normalized_code
    where not code_overrides.is_none

),

no_concept_codes as (

    select distinct
        code_system,
        normalized_code,
    from code_overrides
    where is_none

),

candidates as (

    select found_candidates.*
    from found_candidates
    left join no_concept_codes
        on
            found_candidates.code_system = no_concept_codes.code_system
            and found_candidates.normalized_code = no_concept_codes.normalized_code
    where no_concept_codes.normalized_code is null
    union all
    select * from override_candidates

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
            when no_concept_codes.normalized_code is not null then 'overridden'
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
    left join no_concept_codes
        on
            cohort_codes.code_system = no_concept_codes.code_system
            and cohort_codes.normalized_code = no_concept_codes.normalized_code
    left join titles
        on
            cohort_codes.code_system = titles.code_system
            and cohort_codes.normalized_code = titles.normalized_code

)

select * from code_concepts
