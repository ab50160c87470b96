-- One row per person with templates x diagnosis of the answer vocabulary in whose ICD category or
-- family the person has a code, in some visit of any source and in either version; category: the
-- first such. A code that equals or begins with another has its category.
with

-- Persons, and categories below, are numbered: what is joined and grouped is integers.
persons as (

    select
        person_group,
        cast(row_number() over (order by person_group) as integer) as person_number
    from {{ ref('int_templates') }}
    group by person_group

),

vocabulary as (

    select distinct cui_id
    from {{ ref('int_answer_vocabulary') }}
    where event_type = 'diagnosis'

),

vocabulary_near as (

    select * from {{ ref('int_vocabulary_relatives') }}
    where is_same

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}
    where event_type = 'diagnosis'

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}
    where cui_id is not null

),

icd_atoms as (

    select * from {{ ref('int_icd_atoms') }}
    where mapping_method = 'exact_atom'

),

icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}
    where code_kind = 'diagnosis'

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}

),

icd_families as (

    select * from {{ ref('icd_families') }}

),

concept_codes as (

    select
        cui_id,
        code_system,
        normalized_code
    from code_concepts

    union

    select
        cui_id,
        code_system,
        normalized_code
    from icd_atoms

),

vocabulary_codes as (

    select distinct
        vocabulary.cui_id,
        concept_codes.code_system,
        concept_codes.normalized_code
    from vocabulary
    inner join vocabulary_near
        on vocabulary.cui_id = vocabulary_near.cui_id
    inner join concept_codes
        on vocabulary_near.near_cui_id = concept_codes.cui_id

),

person_events as (

    select
        persons.person_number,
        events.event_key,
        events.code_system,
        events.normalized_code
    from persons
    inner join visits
        on persons.person_group = visits.person_group
    inner join events
        on visits.visit_key = events.visit_key

),

-- A diagnosis of another system is said by the codes of its concept.
person_codes as (

    select
        person_number,
        code_system,
        normalized_code
    from person_events

    union

    select
        person_events.person_number,
        concept_codes.code_system,
        concept_codes.normalized_code
    from person_events
    anti join icd_code_systems
        on person_events.code_system = icd_code_systems.code_system
    inner join mappings
        on person_events.event_key = mappings.event_key
    inner join concept_codes
        on mappings.cui_id = concept_codes.cui_id

),

codes as (

    select codes_said.*
    from (
        select code_system, normalized_code from vocabulary_codes
        union
        select code_system, normalized_code from person_codes
    ) as codes_said
    semi join icd_code_systems
        on codes_said.code_system = icd_code_systems.code_system

),

-- A code's own category, those that it is translated to, either way, and its families. Who has a
-- code that only a combination translates has each part of it, but one part of a combination is not
-- the whole.
code_categories as (

    select
        code_system,
        normalized_code,
        concat(code_system, ' ', {{ icd_category('code_system', 'normalized_code') }}) as category,
        false as is_part
    from codes

    union

    select
        codes.code_system,
        codes.normalized_code,
        concat('family ', icd_families.family) as category,
        false as is_part
    from codes
    inner join icd_families
        on codes.code_system = icd_families.code_system
        and {{ code_in_range('codes.normalized_code', 'icd_families.code_from',
            'icd_families.code_to') }}

    union

    select
        code_system,
        normalized_code,
        concat(target_system, ' ', {{ icd_category('target_system', 'target_code') }}) as category,
        is_combination as is_part
    from gem_targets

    union

    select
        target_system as code_system,
        target_code as normalized_code,
        concat(gem_targets.code_system, ' ', {{ icd_category(
            'gem_targets.code_system', 'gem_targets.normalized_code') }}) as category,
        false as is_part
    from gem_targets
    where not is_combination

),

categories as (

    select
        category,
        cast(row_number() over (order by category) as integer) as category_number
    from code_categories
    group by category

),

person_categories as (

    select distinct
        person_codes.person_number,
        categories.category_number
    from person_codes
    inner join code_categories
        on person_codes.code_system = code_categories.code_system
        and person_codes.normalized_code = code_categories.normalized_code
    inner join categories
        on code_categories.category = categories.category

),

vocabulary_categories as (

    select distinct
        vocabulary_codes.cui_id,
        categories.category_number
    from vocabulary_codes
    inner join code_categories
        on vocabulary_codes.code_system = code_categories.code_system
        and vocabulary_codes.normalized_code = code_categories.normalized_code
        and not code_categories.is_part
    inner join categories
        on code_categories.category = categories.category

),

first_categories as (

    select
        person_categories.person_number,
        vocabulary_categories.cui_id,
        min(person_categories.category_number) as category_number
    from person_categories
    inner join vocabulary_categories
        on person_categories.category_number = vocabulary_categories.category_number
    group by
        person_categories.person_number,
        vocabulary_categories.cui_id

),

category_concepts as (

    select
        persons.person_group,
        first_categories.cui_id,
        categories.category
    from first_categories
    inner join persons
        on first_categories.person_number = persons.person_number
    inner join categories
        on first_categories.category_number = categories.category_number

)

select * from category_concepts
