-- Released items of tx whose scenario has a drug with an ingredient of the answer's drug.
with

items as (

    select distinct template_key from {{ ref('dim_items') }}
    where released
        and task = 'tx'

),

templates as (

    select * from {{ ref('fct_templates') }}
    where answer_event_type = 'medication'

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

concepts as (

    select * from {{ ref('dim_concepts') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

shown as (

    select
        templates.template_key,
        concepts.cui_id as answer_cui_id,
        unnest(string_split(templates.scenario_event_keys, ',')) as event_key
    from items
    inner join templates
        on items.template_key = templates.template_key
    inner join concepts
        on templates.answer_cui = concepts.cui

),

drugs as (

    select distinct
        template_key,
        answer_cui_id as cui_id,
        true as is_answer
    from shown

    union all

    select distinct
        shown.template_key,
        mappings.cui_id,
        false as is_answer
    from shown
    inner join mappings
        on shown.event_key = mappings.event_key

),

with_ingredients as (

    select * from drugs

    union

    select
        drugs.template_key,
        drug_ingredients.ingredient_cui_id as cui_id,
        drugs.is_answer
    from drugs
    inner join drug_ingredients
        on drugs.cui_id = drug_ingredients.cui_id

),

with_parts as (

    select * from with_ingredients

    union

    select
        with_ingredients.template_key,
        combination_parts.part_cui_id as cui_id,
        with_ingredients.is_answer
    from with_ingredients
    inner join combination_parts
        on with_ingredients.cui_id = combination_parts.combination_cui_id

)

select
    template_key,
    cui_id
from with_parts
where cui_id is not null
group by
    template_key,
    cui_id
having count(distinct is_answer) = 2
