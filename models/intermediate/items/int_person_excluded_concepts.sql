-- One row per person with templates x answer concept that this person has in some visit of any
-- source: never a distractor for this person. Has it: the concept itself, ordered or only
-- administered, a relative of it, an equivalent of either, or, of a diagnosis, a code of its ICD
-- category.
with

templates as (

    select * from {{ ref('int_templates') }}

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

administrations as (

    select
        visit_key,
        {{ cui_id('normalized_code') }} as cui_id
    from {{ ref('int_administrations_mapped') }}

),

vocabulary_near as (

    select * from {{ ref('int_vocabulary_relatives') }}

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}

),

category_concepts as (

    select * from {{ ref('int_person_category_concepts') }}

),

-- Numbered: what is joined and counted once is integers.
persons as (

    select
        person_group,
        cast(row_number() over (order by person_group) as integer) as person_number
    from templates
    group by person_group

),

person_visits as (

    select
        persons.person_number,
        visits.visit_key
    from persons
    inner join visits
        on persons.person_group = visits.person_group

),

person_concepts as (

    select
        person_visits.person_number,
        mappings.cui_id
    from person_visits
    inner join events
        on person_visits.visit_key = events.visit_key
    inner join mappings
        on events.event_key = mappings.event_key

    union

    select
        person_visits.person_number,
        administrations.cui_id
    from person_visits
    inner join administrations
        on person_visits.visit_key = administrations.visit_key
    where administrations.cui_id is not null

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

numbered as (

    select
        person_concepts.person_number,
        near_recorded.cui_id
    from person_concepts
    inner join near_recorded
        on person_concepts.cui_id = near_recorded.recorded_cui_id

    union

    select
        persons.person_number,
        category_concepts.cui_id
    from category_concepts
    inner join persons
        on category_concepts.person_group = persons.person_group

),

excluded as (

    select
        persons.person_group,
        numbered.cui_id
    from numbered
    inner join persons
        on numbered.person_number = persons.person_number

)

select * from excluded
