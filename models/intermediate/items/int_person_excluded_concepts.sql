-- One row per person with templates x answer concept that this person has, itself or by a
-- relative, in any visit of any source: never a distractor for this person.
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

near as (

    select * from {{ ref('int_vocabulary_relatives') }}

),

persons as (

    select distinct person_group from templates

),

person_concepts as (

    select distinct
        visits.person_group,
        mappings.cui_id
    from persons
    inner join visits
        on persons.person_group = visits.person_group
    inner join events
        on visits.visit_key = events.visit_key
    inner join mappings
        on events.event_key = mappings.event_key

),

excluded as (

    select distinct
        person_concepts.person_group,
        near.cui_id
    from person_concepts
    inner join near
        on person_concepts.cui_id = near.near_cui_id

)

select * from excluded
