-- One row per scenario concept x answer concept that share enough visits. A distractor occurs in
-- no visit of its template's patient, so all these visits are other patients'.
with

scenario_concepts as (

    select distinct cui_id from {{ ref('int_scenario_concepts') }}

),

vocabulary as (

    select distinct
        event_type,
        cui_id
    from {{ ref('int_answer_vocabulary') }}

),

visits as (

    select visit_key
    from {{ ref('dim_visits') }}
    qualify row_number() over (
        order by {{ key(['visit_key', "'cooccurrence'"]) }}, visit_key
    ) <= {{ var('max_cooccurrence_visits') }}

),

events as not materialized (

    select visit_events.*
    from {{ ref('fct_visit_events') }} as visit_events
    inner join visits
        on visit_events.visit_key = visits.visit_key

),

mappings as not materialized (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1
        and cui_id is not null

),

visit_scenario_concepts as (

    select distinct
        events.visit_key,
        mappings.cui_id
    from events
    inner join mappings
        on events.event_key = mappings.event_key
    where exists (
        select 1 from scenario_concepts
        where scenario_concepts.cui_id = mappings.cui_id
    )

),

visit_answer_concepts as (

    select distinct
        events.visit_key,
        events.event_type,
        mappings.cui_id
    from events
    inner join mappings
        on events.event_key = mappings.event_key
    where exists (
        select 1 from vocabulary
        where vocabulary.cui_id = mappings.cui_id
            and vocabulary.event_type = events.event_type
    )

),

pairs_counted as (

    select
        visit_scenario_concepts.cui_id as scenario_cui_id,
        visit_answer_concepts.event_type,
        visit_answer_concepts.cui_id,
        cast(count(*) as integer) as n_visits
    from visit_scenario_concepts
    inner join visit_answer_concepts
        on visit_scenario_concepts.visit_key = visit_answer_concepts.visit_key
    group by all
    having count(*) >= {{ var('min_cooccurrence_visits') }}

)

select * from pairs_counted
