-- From a drug concept along RxNorm's relations to the ingredients and combinations it reaches.
-- One row per start and end; an end stops the walk.
with recursive drug_relations as (

    select * from {{ ref('drug_relations') }}

),

relations as (

    select * from {{ ref('stg_umls__relations') }}

),

kinds as (

    select distinct
        cui_id,
        drug_kind,
    from {{ ref('int_drug_atoms') }}

),

-- "CUI2 RELA CUI1": the drug is the second, what it leads to the first
edges as (

    select distinct
        {{ cui_id('relations.cui2') }} as from_cui_id,
        {{ cui_id('relations.cui1') }} as to_cui_id,
    from relations
    inner join drug_relations
        on
            relations.rela = drug_relations.rela
            and drug_relations.relation_kind = 'towards_ingredient'
    where relations.suppress = 'N'

),

starts as (

    select cui_id from kinds
    union
    select cui_id from {{ ref('int_ndc_attributes') }}

),

walks as (

    select
        cui_id,
        cui_id as reached_cui_id,
        0 as n_steps,
    from starts
    union
    select
        walks.cui_id,
        edges.to_cui_id,
        walks.n_steps + 1,
    from walks
    inner join edges
        on walks.reached_cui_id = edges.from_cui_id
    left join kinds
        on walks.reached_cui_id = kinds.cui_id
    where
        walks.n_steps < {{ var('max_drug_relation_steps') }}
        and coalesce(kinds.drug_kind, '') not in ('ingredient', 'combination')

),

ends as (

    select distinct
        walks.cui_id,
        walks.reached_cui_id,
        kinds.drug_kind,
    from walks
    inner join kinds
        on walks.reached_cui_id = kinds.cui_id
    where kinds.drug_kind in ('ingredient', 'combination')

)

select * from ends
