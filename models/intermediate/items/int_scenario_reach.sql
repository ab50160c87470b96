-- One row per candidate for a template without a reason against it: how many events have the
-- commonest concept of its scenario, and whether that is common. Nothing here derives from the
-- answer. With a rare scenario hardly any concept occurs twice, so no distractors balance its answer.
with

candidates as (

    select
        template_key,
        triple_id
    from {{ ref('int_template_candidates') }}
    where reason is null

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

),

mappings as not materialized (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

visits_counted as (

    select count(*) as n_visits
    from {{ ref('dim_visits') }}

),

scenario_concepts as (

    select distinct
        candidates.template_key,
        mappings.cui_id
    from candidates
    inner join triple_events
        on candidates.triple_id = triple_events.triple_id
        and (
            triple_events.role = 'subject'
            or (
                triple_events.role = 'context'
                and triple_events.position <= {{ var('context_events') }}
            )
        )
    inner join mappings
        on triple_events.event_key = mappings.event_key

),

concepts_counted as (

    select
        cui_id,
        count(*) as n_events
    from mappings
    where cui_id in (select cui_id from scenario_concepts)
    group by cui_id

),

reaches as (

    select
        scenario_concepts.template_key,
        max(concepts_counted.n_events) as n_events
    from scenario_concepts
    inner join concepts_counted
        on scenario_concepts.cui_id = concepts_counted.cui_id
    group by scenario_concepts.template_key

),

judged as (

    select
        reaches.template_key,
        cast(reaches.n_events as integer) as n_events,
        reaches.n_events >= visits_counted.n_visits * {{ var('common_scenario_share') }} as is_common
    from reaches
    cross join visits_counted

)

select * from judged
