-- Names of drugs; what a concept is (ingredient, combination, salt, brand) is said by its best
-- source.
with atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

drug_name_sources as (

    select * from {{ ref('drug_name_sources') }}

),

drug_name_types as (

    select * from {{ ref('drug_name_types') }}

),

drug_atoms as (

    select
        atoms.cui_id,
        atoms.name,
        drug_name_sources.source_rank,
        drug_name_types.name_kind,
        drug_name_types.kind_rank,
        atoms.is_preferred_name,
    from atoms
    inner join drug_name_sources
        on atoms.sab = drug_name_sources.sab
    inner join drug_name_types
        on atoms.tty = drug_name_types.tty

),

kinds as (

    select
        cui_id,
        min_by(name_kind, (source_rank, kind_rank)) as drug_kind,
        min_by(
            name,
            (source_rank, kind_rank, case when is_preferred_name then 0 else 1 end, name)
        ) as label,
    from drug_atoms
    group by all

),

named as (

    select
        drug_atoms.cui_id,
        drug_atoms.name,
        min(drug_atoms.source_rank) as source_rank,
        kinds.drug_kind,
        kinds.label,
    from drug_atoms
    inner join kinds
        on drug_atoms.cui_id = kinds.cui_id
    group by all

)

select * from named
