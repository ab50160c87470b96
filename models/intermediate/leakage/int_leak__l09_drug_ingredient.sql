-- L09: a scenario drug and the answer's drug share an ingredient: as salt, brand or clinical drug,
-- or as part of a combination on either side.
with

templates as (

    select * from {{ ref('int_template_forms') }}
    where task = 'tx'
        and answer_event_type = 'medication'

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}
    where ingredient_cui_id is not null

),

drug_walk as (

    select * from {{ ref('int_drug_walk') }}

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

shown_concepts as (

    select distinct
        templates.template_key,
        mappings.cui_id
    from templates
    inner join scenario
        on templates.template_key = scenario.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key

),

drugs as (

    select answer_cui_id as cui_id from templates
    union
    select cui_id from shown_concepts

),

reached as (

    select
        cui_id,
        cui_id as content_cui_id
    from drugs

    union

    select
        drugs.cui_id,
        drug_ingredients.ingredient_cui_id as content_cui_id
    from drugs
    inner join drug_ingredients
        on drugs.cui_id = drug_ingredients.cui_id

    union

    select
        drugs.cui_id,
        drug_walk.reached_cui_id as content_cui_id
    from drugs
    inner join drug_walk
        on drugs.cui_id = drug_walk.cui_id

),

contents as (

    select * from reached

    union

    select
        reached.cui_id,
        combination_parts.part_cui_id as content_cui_id
    from reached
    inner join combination_parts
        on reached.content_cui_id = combination_parts.combination_cui_id

),

found as (

    select
        'L09' as rule_id,
        'template' as scope,
        templates.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(concat(
            {{ cui_text('shown_concepts.cui_id') }}, ' contains ',
            {{ cui_text('shown_contents.content_cui_id') }}
        )) as evidence
    from templates
    inner join shown_concepts
        on templates.template_key = shown_concepts.template_key
    inner join contents as answer_contents
        on templates.answer_cui_id = answer_contents.cui_id
    inner join contents as shown_contents
        on shown_concepts.cui_id = shown_contents.cui_id
        and answer_contents.content_cui_id = shown_contents.content_cui_id
    group by templates.template_key

)

select * from found
