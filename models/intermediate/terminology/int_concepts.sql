with atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

source_name_ranks as (

    select
        sab,
        tty,
        max(name_rank) as name_rank,
    from {{ ref('stg_umls__name_ranks') }}
    where suppress = 'N'
    group by all

),

name_type_ranks as (

    select * from {{ ref('name_type_ranks') }}

),

semantic_types as (

    select
        {{ cui_id('cui') }} as cui_id,
        tui,
    from {{ ref('stg_umls__semantic_types') }}

),

semantic_type_groups as (

    select * from {{ ref('semantic_type_groups') }}

),

definitions as (

    select * from {{ ref('stg_umls__definitions') }}

),

definition_source_ranks as (

    select * from {{ ref('definition_source_ranks') }}

),

procedure_concepts as (

    select * from {{ ref('stg_icd__procedure_concepts') }}

),

retired_cuis as (

    select * from {{ ref('int_retired_cuis') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}

),

titles as (

    select * from {{ ref('int_icd_titles') }}

),

-- MRRANK ranks the kinds of names where the release has that file, the higher the better. Else
-- the Metathesaurus marks one preferred atom per concept, and where it marks none or several the
-- seed of name kinds decides.
atom_names as (

    select
        atoms.cui_id,
        min_by(
            atoms.name,
            (
                -coalesce(source_name_ranks.name_rank, 0),
                case when atoms.is_preferred_name then 0 else 1 end,
                coalesce(name_type_ranks.name_rank, 999),
                atoms.name
            )
        ) as name,
    from atoms
    left join source_name_ranks
        on
            atoms.sab = source_name_ranks.sab
            and atoms.tty = source_name_ranks.tty
    left join name_type_ranks
        on
            atoms.sab = name_type_ranks.sab
            and atoms.tty = name_type_ranks.tty
    group by all

),

-- a listed procedure concept is known even when the Metathesaurus is not loaded
listed_names as (

    select
        coalesce(
            retired_cuis.replacement_cui_id, {{ cui_id('procedure_concepts.cui') }}
        ) as cui_id,
        min(procedure_concepts.concept_name) as name,
    from procedure_concepts
    left join retired_cuis
        on {{ cui_id('procedure_concepts.cui') }} = retired_cuis.cui_id
    group by all

),

names as (

    select
        cui_id,
        name,
    from atom_names
    union all
    select
        listed_names.cui_id,
        listed_names.name,
    from listed_names
    left join atom_names
        on listed_names.cui_id = atom_names.cui_id
    where
        atom_names.cui_id is null
        and listed_names.cui_id is not null

),

groups as (

    select
        semantic_types.cui_id,
        min_by(semantic_type_groups.semantic_group, semantic_type_groups.group_rank)
            as semantic_group,
    from semantic_types
    inner join semantic_type_groups
        on semantic_types.tui = semantic_type_groups.tui
    group by all

),

-- a source with English atoms writes English definitions
english_sources as (

    select distinct sab
    from atoms

),

concept_definitions as (

    select
        {{ cui_id('definitions.cui') }} as cui_id,
        min_by(
            definitions.definition,
            (
                coalesce(definition_source_ranks.definition_rank, 999),
                definitions.sab,
                definitions.definition
            )
        ) as definition,
    from definitions
    inner join english_sources
        on definitions.sab = english_sources.sab
    left join definition_source_ranks
        on definitions.sab = definition_source_ranks.sab
    where
        definitions.suppress = 'N'
        and definitions.definition <> ''
    group by all

),

unspecified as (

    select distinct code_concepts.cui_id
    from code_concepts
    inner join titles
        on
            code_concepts.code_system = titles.code_system
            and code_concepts.normalized_code = titles.normalized_code
            and titles.is_unspecified_title
    where code_concepts.mapping_level = 'exact'

),

concepts as (

    select
        names.cui_id,
        {{ cui_text('names.cui_id') }} as cui,
        names.name,
        groups.semantic_group,
        concept_definitions.definition,
        unspecified.cui_id is not null as is_unspecified,
    from names
    left join groups
        on names.cui_id = groups.cui_id
    left join concept_definitions
        on names.cui_id = concept_definitions.cui_id
    left join unspecified
        on names.cui_id = unspecified.cui_id

)

select * from concepts
