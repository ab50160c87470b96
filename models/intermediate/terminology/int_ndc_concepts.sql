with ndc_attributes as (

    select * from {{ ref('int_ndc_attributes') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

combination_sets as (

    select * from {{ ref('int_combination_sets') }}

),

resolved as (

    select distinct
        ndc_attributes.ndc11,
        drug_ingredients.ingredient_cui_id,
        drug_ingredients.is_combination,
    from ndc_attributes
    inner join drug_ingredients
        on ndc_attributes.cui_id = drug_ingredients.cui_id
    where drug_ingredients.ingredient_cui_id is not null

),

grouped as (

    select
        ndc11,
        count(*) as n_cuis,
        min(ingredient_cui_id) as cui_id,
        string_agg(cast(ingredient_cui_id as varchar), ' ' order by ingredient_cui_id)
            as part_set,
    from resolved
    group by all

),

ndc_concepts as (

    select
        grouped.ndc11,
        case
            when grouped.n_cuis = 1 then grouped.cui_id
            else combination_sets.combination_cui_id
        end as cui_id,
        case
            when grouped.n_cuis = 1 or combination_sets.combination_cui_id is not null then 'ndc'
            else 'none'
        end as method,
        case
            when grouped.n_cuis > 1 and combination_sets.combination_cui_id is null
                then 'several_ingredients'
        end as reason,
    from grouped
    left join combination_sets
        on grouped.part_set = combination_sets.part_set

),

labelled as (

    select
        ndc_concepts.ndc11,
        ndc_concepts.cui_id,
        drug_ingredients.label,
        coalesce(drug_ingredients.is_combination, ndc_concepts.cui_id is null)
            as is_combination,
        ndc_concepts.method,
        ndc_concepts.reason,
    from ndc_concepts
    left join drug_ingredients
        on ndc_concepts.cui_id = drug_ingredients.cui_id

)

select * from labelled
