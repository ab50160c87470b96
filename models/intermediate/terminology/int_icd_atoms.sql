-- The concepts that an ICD code names itself: its title, or an inclusion term where no title has
-- an atom. ICD-9-CM diagnoses and procedures share one source; the place of the dot tells them
-- apart.
with atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

term_types as (

    select * from {{ ref('icd_term_types') }}

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

retired_cuis as (

    select * from {{ ref('int_retired_cuis') }}

),

code_atoms as (

    select distinct
        code_systems.code_system,
        upper(trim(atoms.code)) as normalized_code,
        coalesce(retired_cuis.replacement_cui_id, atoms.cui_id) as cui_id,
        term_types.mapping_method,
        term_types.method_rank,
    from atoms
    inner join term_types
        on atoms.tty = term_types.tty
    inner join code_systems
        on
            atoms.sab = code_systems.umls_sab
            and (
                code_systems.icd_version = 10
                or regexp_full_match(atoms.code, '[0-9]{2}([.].*)?')
                = (code_systems.code_kind = 'procedure')
            )
    left join retired_cuis
        on atoms.cui_id = retired_cuis.cui_id

),

best as (

    select
        code_system,
        normalized_code,
        replace(normalized_code, '.', '') as bare_code,
        cui_id,
        mapping_method,
    from code_atoms
    qualify
        method_rank = min(method_rank) over (partition by code_system, normalized_code)

)

select * from best
