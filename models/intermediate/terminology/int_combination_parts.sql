with drug_relations as (

    select * from {{ ref('drug_relations') }}

),

relations as (

    select * from {{ ref('stg_umls__relations') }}

),

walks as (

    select * from {{ ref('int_drug_walk') }}

),

combinations as (

    select distinct cui_id
    from {{ ref('int_drug_atoms') }}
    where drug_kind = 'combination'

),

part_relations as (

    select distinct
        {{ cui_id('relations.cui2') }} as combination_cui_id,
        {{ cui_id('relations.cui1') }} as part_cui_id,
    from relations
    inner join drug_relations
        on
            relations.rela = drug_relations.rela
            and drug_relations.relation_kind = 'part'
    where relations.suppress = 'N'

),

-- a part that is a salt counts as its ingredient
parts as (

    select distinct
        part_relations.combination_cui_id,
        coalesce(walks.reached_cui_id, part_relations.part_cui_id) as part_cui_id,
    from part_relations
    inner join combinations
        on part_relations.combination_cui_id = combinations.cui_id
    left join walks
        on
            part_relations.part_cui_id = walks.cui_id
            and walks.drug_kind = 'ingredient'

)

select * from parts
