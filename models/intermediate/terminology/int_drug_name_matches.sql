-- Order texts and their parts matched to drug names: the strictest key that hits, then the
-- strictest key of the name, then the best source. All concepts of that best hit.
with keys as (

    select * from {{ ref('int_drug_name_keys') }}

),

drug_atoms as (

    select * from {{ ref('int_drug_atoms') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

texts as (

    select drug_text as name from {{ ref('int_cohort_drug_texts') }}
    union
    select part_text as name from {{ ref('int_drug_text_parts') }}

),

text_keys as (

    select keys.*
    from keys
    inner join texts
        on keys.name = texts.name

),

-- a name stripped of its salt, or its brackets alone, does not name the concept any more
atom_keys as (

    select
        keys.name_key,
        keys.key_rank,
        drug_atoms.source_rank,
        drug_atoms.cui_id,
    from keys
    inner join drug_atoms
        on keys.name = drug_atoms.name
    where keys.key_rank <= 4

),

hits as (

    select
        text_keys.name,
        text_keys.name_key,
        text_keys.key_rank,
        atom_keys.cui_id,
        (text_keys.key_rank, atom_keys.key_rank, atom_keys.source_rank) as hit_rank,
    from text_keys
    inner join atom_keys
        on text_keys.name_key = atom_keys.name_key

),

best_hits as (

    select
        name,
        min(hit_rank) as hit_rank,
    from hits
    group by all

),

matches as (

    select distinct
        hits.name,
        hits.name_key,
        hits.key_rank,
        drug_ingredients.ingredient_cui_id,
        drug_ingredients.is_combination,
    from hits
    inner join best_hits
        on
            hits.name = best_hits.name
            and hits.hit_rank = best_hits.hit_rank
    inner join drug_ingredients
        on hits.cui_id = drug_ingredients.cui_id
    where drug_ingredients.ingredient_cui_id is not null

)

select * from matches
