-- Every step by which a diagnosis code can reach a concept; int_icd_code_concepts takes the first.
--   1 exact_atom / entry_term  the code itself
--   2 gem, equivalent          non-approximate mapping to the other version
--   3 gem, ancestor            approximate mapping with one outcome
--   4 icd_parent, ancestor     nearest shorter code
--   5 gem_parent, ancestor     nearest shorter code of a mapping's target
--   6 gem_several, descendant  the targets of an approximate mapping with several outcomes: the
--                              code means one of them
-- A residual title (other, not elsewhere classified) names no concept of its own: it skips 2, 3
-- and 6, is nowhere exact, and an "other" title follows only mappings to "other" titles. The other
-- way round a code with a name of its own leaves its residual targets aside while a named one is
-- there (backache: back pain, not other back pain).
-- A combination (two targets that hold together) is never exact or equivalent: each of its parts is
-- broader than the code, so they come last among the ancestors (5).
with cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

titles as (

    select * from {{ ref('int_icd_titles') }}

),

icd_atoms as (

    select * from {{ ref('int_icd_atoms') }}

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}

),

codes as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        replace(cohort_codes.normalized_code, '.', '') as bare_code,
        code_systems.min_code_length,
        coalesce(titles.title_class, 'plain') as title_class,
        coalesce(titles.is_residual_title, false) as is_residual_title,
    from cohort_codes
    inner join code_systems
        on
            cohort_codes.code_system = code_systems.code_system
            and code_systems.code_kind = 'diagnosis'
    left join titles
        on
            cohort_codes.code_system = titles.code_system
            and cohort_codes.normalized_code = titles.normalized_code

),

own_concepts as (

    select
        codes.code_system,
        codes.normalized_code,
        1 as step,
        icd_atoms.mapping_method,
        case when codes.is_residual_title then 'ancestor' else 'exact' end as mapping_level,
        icd_atoms.cui_id,
        0 as distance,
    from codes
    inner join icd_atoms
        on
            codes.code_system = icd_atoms.code_system
            and codes.normalized_code = icd_atoms.normalized_code

),

all_targets as (

    select
        codes.*,
        gem_targets.target_system,
        gem_targets.target_code,
        replace(gem_targets.target_code, '.', '') as bare_target,
        gem_targets.is_approximate,
        gem_targets.is_combination,
        coalesce(titles.is_residual_title, false) as is_residual_target,
    from codes
    inner join gem_targets
        on
            codes.code_system = gem_targets.code_system
            and codes.normalized_code = gem_targets.normalized_code
    left join titles
        on
            gem_targets.target_system = titles.code_system
            and gem_targets.target_code = titles.normalized_code
    where codes.title_class <> 'other' or titles.title_class = 'other'

),

named_targets as (

    select *
    from all_targets
    qualify
        is_residual_title
        or is_combination
        or not is_residual_target
        or bool_and(is_residual_target) over (partition by code_system, normalized_code)

),

code_targets as (

    select
        *,
        count(*) over (partition by code_system, normalized_code) as n_targets,
    from named_targets

),

target_concepts as (

    select
        code_targets.*,
        icd_atoms.cui_id,
    from code_targets
    inner join icd_atoms
        on
            code_targets.target_system = icd_atoms.code_system
            and code_targets.target_code = icd_atoms.normalized_code
    where
        not code_targets.is_residual_title
        and not code_targets.is_combination

),

gem_equivalents as (

    select distinct
        code_system,
        normalized_code,
        2 as step,
        'gem' as mapping_method,
        'equivalent' as mapping_level,
        cui_id,
        0 as distance,
    from target_concepts
    where not is_approximate

),

-- several approximate targets are mostly narrower than the code: they count when they agree
gem_outcomes as (

    select
        code_system,
        normalized_code,
        n_targets,
        count(distinct target_code) as n_mapped_targets,
        count(distinct cui_id) as n_cuis,
    from target_concepts
    group by all

),

gem_approximates as (

    select distinct
        target_concepts.code_system,
        target_concepts.normalized_code,
        3 as step,
        'gem' as mapping_method,
        'ancestor' as mapping_level,
        target_concepts.cui_id,
        0 as distance,
    from target_concepts
    inner join gem_outcomes
        on
            target_concepts.code_system = gem_outcomes.code_system
            and target_concepts.normalized_code = gem_outcomes.normalized_code
    where
        target_concepts.is_approximate
        and (
            gem_outcomes.n_targets = 1
            or (
                gem_outcomes.n_mapped_targets = gem_outcomes.n_targets
                and gem_outcomes.n_cuis = 1
            )
        )

),

gem_several as (

    select distinct
        code_system,
        normalized_code,
        6 as step,
        'gem_several' as mapping_method,
        'descendant' as mapping_level,
        cui_id,
        0 as distance,
    from target_concepts
    where
        is_approximate
        and n_targets > 1

),

shorter_codes as (

    select
        code_system,
        normalized_code,
        bare_code,
        unnest(range(min_code_length, length(bare_code))) as code_length,
    from codes

),

parents as (

    select
        shorter_codes.code_system,
        shorter_codes.normalized_code,
        4 as step,
        'icd_parent' as mapping_method,
        'ancestor' as mapping_level,
        icd_atoms.cui_id,
        length(shorter_codes.bare_code) - shorter_codes.code_length as distance,
    from shorter_codes
    inner join icd_atoms
        on
            shorter_codes.code_system = icd_atoms.code_system
            and substr(shorter_codes.bare_code, 1, shorter_codes.code_length)
            = icd_atoms.bare_code

),

-- the target itself is broader than the code only for a residual title, as one part of a
-- combination, or as the only target; the codes above a residual target are as good as others
counted_targets as (

    select
        *,
        count(*) over (partition by code_system, normalized_code) as n_targets,
    from all_targets

),

shorter_targets as (

    select
        counted_targets.code_system,
        counted_targets.normalized_code,
        counted_targets.target_system,
        counted_targets.bare_target,
        unnest(range(
            code_systems.min_code_length,
            length(counted_targets.bare_target)
            + case
                when
                    counted_targets.is_residual_title
                    or counted_targets.is_combination
                    or counted_targets.n_targets = 1
                    then 1
                else 0
            end
        )) as code_length,
    from counted_targets
    inner join code_systems
        on counted_targets.target_system = code_systems.code_system

),

target_parents as (

    select
        shorter_targets.code_system,
        shorter_targets.normalized_code,
        5 as step,
        'gem_parent' as mapping_method,
        'ancestor' as mapping_level,
        icd_atoms.cui_id,
        length(shorter_targets.bare_target) - shorter_targets.code_length as distance,
    from shorter_targets
    inner join icd_atoms
        on
            shorter_targets.target_system = icd_atoms.code_system
            and substr(shorter_targets.bare_target, 1, shorter_targets.code_length)
            = icd_atoms.bare_code

),

candidates as (

    select * from own_concepts
    union all
    select * from gem_equivalents
    union all
    select * from gem_approximates
    union all
    select * from parents
    union all
    select * from target_parents
    union all
    select * from gem_several

)

select distinct
    code_system,
    normalized_code,
    step,
    mapping_method,
    mapping_level,
    cui_id,
    distance,
from candidates
