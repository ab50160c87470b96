-- Several triples of a visit ask for the same object: what gives it away is found once. These are
-- its relatives and its ICD category.
with

triples as (

    select * from {{ ref('fct_triples') }}

),

pool_events as not materialized (

    select * from {{ ref('int_context_pool_events') }}

),

event_concepts as not materialized (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level not in ('part', 'none')

),

event_roles as (

    select
        event_key,
        icd_category
    from {{ ref('int_event_roles') }}
    where icd_category is not null

),

relatives as (

    select distinct
        cui_id,
        relative_cui_id
    from {{ ref('int_concept_relatives') }}

),

pools as (

    select distinct
        pool_number,
        task,
        visit_key
    from pool_events

),

objects as (

    select distinct
        pools.pool_number,
        triples.object_event_key
    from triples
    inner join pools
        on triples.task = pools.task
        and triples.visit_key = pools.visit_key

),

pool_concepts as (

    select
        pool_events.pool_number,
        pool_events.event_key,
        event_concepts.cui_id
    from pool_events
    inner join event_concepts
        on pool_events.event_key = event_concepts.event_key

),

object_concepts as (

    select
        objects.pool_number,
        objects.object_event_key,
        event_concepts.cui_id
    from objects
    inner join event_concepts
        on objects.object_event_key = event_concepts.event_key

),

telling_concepts as (

    select * from relatives
    union
    select
        cui_id,
        cui_id as relative_cui_id
    from object_concepts

),

telling_events as (

    select
        object_concepts.pool_number,
        object_concepts.object_event_key,
        pool_concepts.event_key
    from object_concepts
    inner join pool_concepts
        on object_concepts.pool_number = pool_concepts.pool_number
    inner join telling_concepts
        on object_concepts.cui_id = telling_concepts.cui_id
        and pool_concepts.cui_id = telling_concepts.relative_cui_id
    union
    select
        objects.pool_number,
        objects.object_event_key,
        pool_events.event_key
    from objects
    inner join event_roles
        on objects.object_event_key = event_roles.event_key
    inner join pool_events
        on objects.pool_number = pool_events.pool_number
        and event_roles.icd_category = pool_events.icd_category

)

select * from telling_events
