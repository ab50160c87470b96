-- Names of drugs; what a concept is (ingredient, combination, salt, brand) is said by its best
-- source. DrugBank's own files name drugs too, after every source of the Metathesaurus.
with atoms as (

    select * from {{ ref('int_terminology_atoms') }}

),

drugbank_names as (

    select * from {{ ref('int_drugbank_names') }}

),

drug_name_sources as (

    select * from {{ ref('drug_name_sources') }}

),

drug_name_types as (

    select * from {{ ref('drug_name_types') }}

),

names as (

    select
        cui_id,
        name,
        sab,
        tty,
        is_preferred_name,
    from atoms
    union all
    select
        cui_id,
        name,
        'DRUGBANK_FILES' as sab,
        case when is_main_name then 'IN' else 'SY' end as tty,
        false as is_preferred_name,
    from drugbank_names
    where cui_id is not null

),

drug_atoms as (

    select
        names.cui_id,
        names.name,
        drug_name_sources.source_rank,
        drug_name_types.name_kind,
        drug_name_types.kind_rank,
        names.is_preferred_name,
    from names
    inner join drug_name_sources
        on names.sab = drug_name_sources.sab
    inner join drug_name_types
        on names.tty = drug_name_types.tty

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
