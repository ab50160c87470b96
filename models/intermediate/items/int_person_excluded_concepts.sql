-- One row per person with templates x answer concept that this person has in some visit of any
-- source: never a distractor for this person. Has it: the concept itself, a relative of it, an
-- equivalent of either, or, of a diagnosis, a code of one ICD category with a code that stands for
-- it, in either version. A code that equals or begins with another has its category.
with

templates as (

    select * from {{ ref('int_templates') }}

),

vocabulary as (

    select distinct
        event_type,
        cui_id
    from {{ ref('int_answer_vocabulary') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

vocabulary_near as (

    select * from {{ ref('int_vocabulary_relatives') }}

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}

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

persons as (

    select distinct person_group from templates

),

person_events as (

    select
        visits.person_group,
        events.event_key,
        events.event_type,
        events.code_system,
        events.normalized_code
    from persons
    inner join visits
        on persons.person_group = visits.person_group
    inner join events
        on visits.visit_key = events.visit_key

),

---------- by concepts

person_concepts as (

    select distinct
        person_events.person_group,
        mappings.cui_id
    from person_events
    inner join mappings
        on person_events.event_key = mappings.event_key

),

recorded as (

    select distinct cui_id from person_concepts

),

equivalents as (

    select
        cui_id,
        relative_cui_id as equivalent_cui_id
    from relatives
    where relation = 'equivalent'

    union

    select
        relative_cui_id as cui_id,
        cui_id as equivalent_cui_id
    from relatives
    where relation = 'equivalent'

),

-- An equivalent is no step: what is near an equivalent is near the concept.
near as (

    select
        cui_id,
        near_cui_id
    from vocabulary_near

    union

    select
        vocabulary_near.cui_id,
        relatives.relative_cui_id as near_cui_id
    from vocabulary_near
    inner join relatives
        on vocabulary_near.near_cui_id = relatives.cui_id
    where vocabulary_near.is_same

    union

    select
        vocabulary_near.cui_id,
        relatives.cui_id as near_cui_id
    from vocabulary_near
    inner join relatives
        on vocabulary_near.near_cui_id = relatives.relative_cui_id
    where vocabulary_near.is_same

),

near_recorded as (

    select
        near.cui_id,
        recorded.cui_id as recorded_cui_id
    from near
    inner join recorded
        on near.near_cui_id = recorded.cui_id

    union

    select
        near.cui_id,
        recorded.cui_id as recorded_cui_id
    from near
    inner join equivalents
        on near.near_cui_id = equivalents.cui_id
    inner join recorded
        on equivalents.equivalent_cui_id = recorded.cui_id

),

---------- by categories of ICD

concept_codes as (

    select
        code_concepts.cui_id,
        code_concepts.code_system,
        code_concepts.normalized_code
    from code_concepts
    inner join icd_code_systems
        on code_concepts.code_system = icd_code_systems.code_system

    union

    select
        icd_atoms.cui_id,
        icd_atoms.code_system,
        icd_atoms.normalized_code
    from icd_atoms
    inner join icd_code_systems
        on icd_atoms.code_system = icd_code_systems.code_system

),

-- A diagnosis of another system is said by the codes of its concept.
person_codes as (

    select
        person_events.person_group,
        person_events.code_system,
        person_events.normalized_code
    from person_events
    inner join icd_code_systems
        on person_events.code_system = icd_code_systems.code_system
    where person_events.event_type = 'diagnosis'

    union

    select
        person_events.person_group,
        concept_codes.code_system,
        concept_codes.normalized_code
    from person_events
    anti join icd_code_systems
        on person_events.code_system = icd_code_systems.code_system
    inner join mappings
        on person_events.event_key = mappings.event_key
        and mappings.mapping_level in ('exact', 'equivalent')
    inner join concept_codes
        on mappings.cui_id = concept_codes.cui_id
    where person_events.event_type = 'diagnosis'

),

vocabulary_codes as (

    select distinct
        vocabulary.cui_id,
        concept_codes.code_system,
        concept_codes.normalized_code
    from vocabulary
    inner join vocabulary_near
        on vocabulary.cui_id = vocabulary_near.cui_id
        and vocabulary_near.is_same
    inner join concept_codes
        on vocabulary_near.near_cui_id = concept_codes.cui_id
    where vocabulary.event_type = 'diagnosis'

),

-- Who has a code that only a combination translates has each part of it, but one part of a
-- combination is not the whole.
translations as (

    select
        code_system,
        normalized_code,
        target_system,
        target_code,
        is_combination
    from gem_targets

    union

    select
        target_system as code_system,
        target_code as normalized_code,
        gem_targets.code_system as target_system,
        gem_targets.normalized_code as target_code,
        false as is_combination
    from gem_targets
    where not is_combination

),

person_categories as (

    select
        person_group,
        code_system,
        {{ icd_category('code_system', 'normalized_code') }} as category
    from person_codes

    union

    select
        person_codes.person_group,
        translations.target_system as code_system,
        {{ icd_category('translations.target_system', 'translations.target_code') }} as category
    from person_codes
    inner join translations
        on person_codes.code_system = translations.code_system
        and person_codes.normalized_code = translations.normalized_code

),

vocabulary_categories as (

    select
        cui_id,
        code_system,
        {{ icd_category('code_system', 'normalized_code') }} as category
    from vocabulary_codes

    union

    select
        vocabulary_codes.cui_id,
        translations.target_system as code_system,
        {{ icd_category('translations.target_system', 'translations.target_code') }} as category
    from vocabulary_codes
    inner join translations
        on vocabulary_codes.code_system = translations.code_system
        and vocabulary_codes.normalized_code = translations.normalized_code
        and not translations.is_combination

),

excluded as (

    select
        person_concepts.person_group,
        near_recorded.cui_id
    from person_concepts
    inner join near_recorded
        on person_concepts.cui_id = near_recorded.recorded_cui_id

    union

    select
        person_categories.person_group,
        vocabulary_categories.cui_id
    from person_categories
    inner join vocabulary_categories
        on person_categories.code_system = vocabulary_categories.code_system
        and person_categories.category = vocabulary_categories.category

)

select * from excluded
