-- Every step by which a procedure code can reach a concept; int_icd_code_concepts takes the first.
--   1 procedure_exact    the project's list names the code
--   2 procedure_prefix   the project's list names a group of codes, the longest prefix first
--   3 exact_atom         an atom of the code, without a role: never an answer
with cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

procedure_roles as (

    select * from {{ ref('procedure_roles') }}

),

procedure_concepts as (

    select
        code_system,
        upper(replace(code_or_prefix, '.', '')) as code_or_prefix,
        match,
        {{ cui_id('cui') }} as cui_id,
        role,
    from {{ ref('stg_icd__procedure_concepts') }}
    where role in (select role from procedure_roles)

),

icd_atoms as (

    select * from {{ ref('int_icd_atoms') }}

),

retired_cuis as (

    select * from {{ ref('int_retired_cuis') }}

),

codes as (

    select
        cohort_codes.code_system,
        cohort_codes.normalized_code,
        replace(cohort_codes.normalized_code, '.', '') as bare_code,
    from cohort_codes
    inner join code_systems
        on
            cohort_codes.code_system = code_systems.code_system
            and code_systems.code_kind = 'procedure'

),

listed as (

    select
        codes.code_system,
        codes.normalized_code,
        1 as step,
        'procedure_exact' as mapping_method,
        'exact' as mapping_level,
        procedure_concepts.cui_id,
        0 as distance,
        procedure_concepts.role as procedure_role,
    from codes
    inner join procedure_concepts
        on
            codes.code_system = procedure_concepts.code_system
            and codes.bare_code = procedure_concepts.code_or_prefix
            and procedure_concepts.match = 'exact'
            and procedure_concepts.cui_id is not null

),

prefixes as (

    select
        code_system,
        normalized_code,
        bare_code,
        unnest(range(1, length(bare_code) + 1)) as prefix_length,
    from codes

),

grouped as (

    select
        prefixes.code_system,
        prefixes.normalized_code,
        2 as step,
        'procedure_prefix' as mapping_method,
        'ancestor' as mapping_level,
        procedure_concepts.cui_id,
        length(prefixes.bare_code) - prefixes.prefix_length as distance,
        procedure_concepts.role as procedure_role,
    from prefixes
    inner join procedure_concepts
        on
            prefixes.code_system = procedure_concepts.code_system
            and substr(prefixes.bare_code, 1, prefixes.prefix_length)
            = procedure_concepts.code_or_prefix
            and procedure_concepts.match = 'prefix'
            and procedure_concepts.cui_id is not null

),

own_concepts as (

    select
        codes.code_system,
        codes.normalized_code,
        3 as step,
        'exact_atom' as mapping_method,
        'exact' as mapping_level,
        icd_atoms.cui_id,
        0 as distance,
        cast(null as varchar) as procedure_role,
    from codes
    inner join icd_atoms
        on
            codes.code_system = icd_atoms.code_system
            and codes.normalized_code = icd_atoms.normalized_code

),

candidates as (

    select * from listed
    union all
    select * from grouped
    union all
    select * from own_concepts

)

select distinct
    candidates.code_system,
    candidates.normalized_code,
    candidates.step,
    candidates.mapping_method,
    candidates.mapping_level,
    coalesce(retired_cuis.replacement_cui_id, candidates.cui_id) as cui_id,
    candidates.distance,
    candidates.procedure_role,
from candidates
left join retired_cuis
    on candidates.cui_id = retired_cuis.cui_id
