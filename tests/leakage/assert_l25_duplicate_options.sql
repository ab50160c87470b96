-- Two options of a released item that are one by text, concept, ingredient, drug class, or the
-- category of an ICD code.
with

items as (

    select item_id
    from {{ ref('dim_items') }}
    where released
        and format = 'mcq'
    qualify row_number() over (
        partition by template_key
        order by n_options desc, item_id
    ) = 1

),

options as (

    select * from {{ ref('fct_item_options') }}

),

code_concepts as (

    select * from {{ ref('int_code_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

cohort_codes as (

    select * from {{ ref('int_cohort_codes') }}
    where is_coded

),

icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}
    where code_kind = 'diagnosis'

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}
    where level = {{ var('class_relative_level') }}

),

shown as (

    select distinct
        options.option_key,
        options.label,
        options.event_type,
        options.cui,
        {{ cui_id('options.cui') }} as cui_id
    from items
    inner join options
        on items.item_id = options.item_id

),

marks as (

    select
        option_key,
        concat('text ', {{ leak_words('label') }}) as mark
    from shown

    union

    select
        option_key,
        concat('concept ', cui) as mark
    from shown

    union

    select
        shown.option_key,
        concat('concept ', {{ cui_text('combination_parts.part_cui_id') }}) as mark
    from shown
    inner join combination_parts
        on shown.cui_id = combination_parts.combination_cui_id

    union

    select
        shown.option_key,
        concat('class ', drug_classes.atc_code) as mark
    from shown
    inner join drug_classes
        on shown.cui_id = drug_classes.cui_id

    union

    select
        shown.option_key,
        concat('category ', cohort_codes.code_system, ' ', {{ icd_category(
            'cohort_codes.code_system', 'cohort_codes.normalized_code') }}) as mark
    from shown
    inner join code_concepts
        on shown.cui_id = code_concepts.cui_id
        and shown.event_type = 'diagnosis'
    inner join cohort_codes
        on code_concepts.code_system = cohort_codes.code_system
        and code_concepts.normalized_code = cohort_codes.normalized_code
    inner join icd_code_systems
        on cohort_codes.code_system = icd_code_systems.code_system

),

shared as (

    select
        items.item_id,
        marks.mark,
        count(*) as n_options
    from items
    inner join options
        on items.item_id = options.item_id
    inner join marks
        on options.option_key = marks.option_key
    group by
        items.item_id,
        marks.mark

)

select * from shared
where n_options > 1
