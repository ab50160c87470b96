-- What the null of the checks pairs a visit's subjects with: the objects of another patient's visit.
-- Visits stand in md5 order in a ring; the donor is the next one of another patient. Objects whose
-- concept the own visit has are left out, so every pair is truly foreign. A model of its own, since
-- subjects and pairs take as much memory again.
with

task_events as not materialized (

    select * from {{ ref('int_task_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select
        event_key,
        visit_key
    from {{ ref('fct_visit_events') }}

),

-- Parts of combinations count too: who was given the combination was given its parts. Read twice
-- rather than kept: what is asked of it is little.
event_concepts as not materialized (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level <> 'none'

),

lists as (

    select
        visits.source,
        visits.patient_key,
        task_events.prompt_task,
        task_events.list_number,
        task_events.visit_key,
        task_events.target_visit_key
    from task_events
    inner join visits
        on task_events.visit_key = visits.visit_key
    -- one row per list
    where task_events.event_position = 1

),

ring as (

    select
        *,
        row_number() over (
            partition by source, prompt_task
            order by
                {{ key(['visit_key', 'target_visit_key', 'prompt_task', "'shuffled'"]) }},
                visit_key, target_visit_key
        ) as place,
        count(*) over (partition by source, prompt_task) as n_places
    from lists

),

tries as (

    select cast(generate_series as bigint) as step
    from generate_series(1, {{ var('shuffled_donor_tries') }})

),

donors as (

    select
        ring.source,
        ring.prompt_task,
        ring.list_number,
        ring.visit_key,
        ring.target_visit_key,
        donor_ring.list_number as donor_list_number
    from ring
    cross join tries
    inner join ring as donor_ring
        on ring.source = donor_ring.source
        and ring.prompt_task = donor_ring.prompt_task
        and (ring.place - 1 + tries.step) % ring.n_places + 1 = donor_ring.place
    where ring.place <= {{ var('shuffled_max_visits') }}
        and ring.patient_key <> donor_ring.patient_key
    qualify row_number() over (
        partition by ring.list_number order by tries.step
    ) = 1

),

own_visits as (

    select
        list_number,
        visit_key
    from donors
    union all
    select
        list_number,
        target_visit_key as visit_key
    from donors
    where target_visit_key is not null

),

own_concepts as (

    select distinct
        own_visits.list_number,
        event_concepts.cui_id
    from own_visits
    inner join events
        on own_visits.visit_key = events.visit_key
    inner join event_concepts
        on events.event_key = event_concepts.event_key

),

donor_objects as (

    select
        donors.list_number,
        task_events.event_key,
        task_events.event_type
    from donors
    inner join task_events
        on donors.donor_list_number = task_events.list_number
    where task_events.role_allowed in ('object', 'both')

),

own_objects as (

    select distinct
        donor_objects.list_number,
        donor_objects.event_key
    from donor_objects
    inner join event_concepts
        on donor_objects.event_key = event_concepts.event_key
    inner join own_concepts
        on donor_objects.list_number = own_concepts.list_number
        and event_concepts.cui_id = own_concepts.cui_id

),

objects as (

    select donor_objects.*
    from donor_objects
    left join own_objects
        on donor_objects.list_number = own_objects.list_number
        and donor_objects.event_key = own_objects.event_key
    where own_objects.event_key is null
    qualify row_number() over (
        partition by donor_objects.list_number order by donor_objects.event_key
    ) <= {{ var('shuffled_per_visit') }}

),

shuffled as (

    select
        donors.source,
        donors.prompt_task,
        donors.list_number,
        donors.visit_key,
        donors.target_visit_key,
        objects.event_key,
        objects.event_type
    from donors
    inner join objects
        on donors.list_number = objects.list_number

)

select * from shuffled
