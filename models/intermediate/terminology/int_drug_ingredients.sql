-- One ingredient level for every drug concept: a salt, brand or clinical drug becomes its
-- ingredient; several ingredients become the combination with exactly these parts.
with walks as (

    select * from {{ ref('int_drug_walk') }}

),

combination_sets as (

    select * from {{ ref('int_combination_sets') }}

),

kinds as (

    select distinct
        cui_id,
        drug_kind,
        label,
    from {{ ref('int_drug_atoms') }}

),

reached as (

    select
        cui_id,
        count(*) filter (where drug_kind = 'ingredient') as n_ingredients,
        count(*) filter (where drug_kind = 'combination') as n_combinations,
        min(reached_cui_id) filter (where drug_kind = 'ingredient') as ingredient_cui_id,
        min(reached_cui_id) filter (where drug_kind = 'combination') as combination_cui_id,
        string_agg(cast(reached_cui_id as varchar), ' ' order by reached_cui_id)
            filter (where drug_kind = 'ingredient') as part_set,
    from walks
    group by all

),

resolved as (

    select
        reached.cui_id,
        case
            when reached.n_combinations = 1 then reached.combination_cui_id
            when reached.n_combinations = 0 and reached.n_ingredients = 1
                then reached.ingredient_cui_id
            else combination_sets.combination_cui_id
        end as ingredient_cui_id,
    from reached
    left join combination_sets
        on reached.part_set = combination_sets.part_set
    union all
    -- a name without a way to an ingredient is its own level
    select
        kinds.cui_id,
        kinds.cui_id as ingredient_cui_id,
    from kinds
    left join reached
        on kinds.cui_id = reached.cui_id
    where reached.cui_id is null

),

labelled as (

    select
        resolved.cui_id,
        resolved.ingredient_cui_id,
        kinds.label,
        coalesce(kinds.drug_kind = 'combination', false) as is_combination,
    from resolved
    left join kinds
        on resolved.ingredient_cui_id = kinds.cui_id

)

select * from labelled
