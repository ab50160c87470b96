{{ config(tags=['portable']) }}

-- Codes come from the ATC files and from DrugBank; the groups of a code are its first characters.
with

atc_ingredients as (

    select * from {{ ref('stg_atc__ingredients') }}

),

atc_codes as (

    select * from {{ ref('stg_atc__codes') }}

),

drugbank_codes as (

    select * from {{ ref('stg_drugbank__atc_codes') }}

),

drugbank_concepts as (

    select * from {{ ref('int_drugbank_concepts') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

cohort_concepts as (

    select * from {{ ref('int_cohort_concepts') }}

),

atc_levels as (

    select * from {{ ref('atc_levels') }}

),

stated as (

    select
        {{ cui_id('cui') }} as cui_id,
        upper(trim(atc_code)) as atc_code,
        'atc' as source
    from atc_ingredients

    union all

    select
        drugbank_concepts.cui_id,
        upper(trim(drugbank_codes.atc_code)) as atc_code,
        'drugbank' as source
    from drugbank_codes
    inner join drugbank_concepts
        on drugbank_codes.drugbank_id = drugbank_concepts.drugbank_id

),

ingredient_codes as (

    select distinct
        coalesce(drug_ingredients.ingredient_cui_id, stated.cui_id) as cui_id,
        stated.atc_code,
        stated.source
    from stated
    left join drug_ingredients
        on stated.cui_id = drug_ingredients.cui_id
    where stated.cui_id is not null

),

-- Where both state a code, the ATC file has it.
classes as (

    select
        ingredient_codes.cui_id,
        atc_levels.level,
        substr(ingredient_codes.atc_code, 1, atc_levels.code_length) as atc_code,
        min(ingredient_codes.source) as source
    from ingredient_codes
    inner join cohort_concepts
        on ingredient_codes.cui_id = cohort_concepts.cui_id
    inner join atc_levels
        on length(ingredient_codes.atc_code) >= atc_levels.code_length
    group by
        ingredient_codes.cui_id,
        atc_levels.level,
        substr(ingredient_codes.atc_code, 1, atc_levels.code_length)

),

names as (

    select
        atc_code,
        min(name) as atc_name
    from atc_codes
    group by atc_code

)

select
    classes.cui_id,
    classes.level,
    classes.atc_code,
    names.atc_name,
    classes.source
from classes
left join names
    on classes.atc_code = names.atc_code
