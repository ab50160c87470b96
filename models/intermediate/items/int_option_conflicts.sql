-- One row per pool x two concepts that must not stand in one item: relatives (drugs of one class
-- too), drugs that share an ingredient, diagnoses with codes of one ICD category (of either
-- version, in the cohort or not), or the same label. Both orders are listed.
with

vocabulary as (

    select * from {{ ref('int_answer_vocabulary') }}

),

near as (

    select * from {{ ref('int_vocabulary_relatives') }}

),

answer_events as (

    select * from {{ ref('int_answer_events') }}
    where eligible
        and event_type = 'diagnosis'

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

diagnosis_codes as (

    select
        answer_events.cui_id,
        events.code_system,
        events.normalized_code
    from answer_events
    inner join events
        on answer_events.event_key = events.event_key

    union

    select
        code_concepts.cui_id,
        code_concepts.code_system,
        code_concepts.normalized_code
    from code_concepts
    semi join vocabulary
        on code_concepts.cui_id = vocabulary.cui_id
        and vocabulary.event_type = 'diagnosis'

),

concept_categories as (

    select distinct
        cui_id,
        code_system,
        {{ icd_category('code_system', 'normalized_code') }} as category
    from diagnosis_codes

),

ingredients as (

    select
        cui_id,
        cui_id as ingredient_cui_id
    from vocabulary
    where event_type = 'medication'

    union

    select
        combination_cui_id as cui_id,
        part_cui_id as ingredient_cui_id
    from combination_parts

),

related as (

    select
        one.pool_number,
        one.cui_id,
        other.cui_id as other_cui_id,
        'relative' as conflict
    from vocabulary as one
    inner join near
        on one.cui_id = near.cui_id
    inner join vocabulary as other
        on near.near_cui_id = other.cui_id
        and one.pool_number = other.pool_number

),

same_category as (

    select
        one.pool_number,
        one.cui_id,
        other.cui_id as other_cui_id,
        'category' as conflict
    from vocabulary as one
    inner join concept_categories as one_category
        on one.cui_id = one_category.cui_id
    inner join concept_categories as other_category
        on one_category.code_system = other_category.code_system
        and one_category.category = other_category.category
    inner join vocabulary as other
        on other_category.cui_id = other.cui_id
        and one.pool_number = other.pool_number
    where one.event_type = 'diagnosis'

),

same_ingredient as (

    select
        one.pool_number,
        one.cui_id,
        other.cui_id as other_cui_id,
        'ingredient' as conflict
    from vocabulary as one
    inner join ingredients as one_ingredient
        on one.cui_id = one_ingredient.cui_id
    inner join ingredients as other_ingredient
        on one_ingredient.ingredient_cui_id = other_ingredient.ingredient_cui_id
    inner join vocabulary as other
        on other_ingredient.cui_id = other.cui_id
        and one.pool_number = other.pool_number
    where one.event_type = 'medication'

),

same_label as (

    select
        one.pool_number,
        one.cui_id,
        other.cui_id as other_cui_id,
        'label' as conflict
    from vocabulary as one
    inner join vocabulary as other
        on one.pool_number = other.pool_number
        and one.label_words = other.label_words

),

united as (

    select * from related
    union all
    select * from same_category
    union all
    select * from same_ingredient
    union all
    select * from same_label

),

conflicts as (

    select
        pool_number,
        cui_id,
        other_cui_id,
        min(conflict) as conflict
    from united
    where cui_id <> other_cui_id
    group by all

)

select * from conflicts
