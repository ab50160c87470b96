-- The generators in SQL keep to their caps per visit (pair); tx has two prompts, so the cap holds
-- per event type of the object.
with

proposals as (

    select * from {{ ref('int_extraction_proposals') }}

),

events as (

    select
        event_key,
        event_type
    from {{ ref('fct_visit_events') }}

),

counted as (

    select
        proposals.generator,
        proposals.visit_key,
        proposals.target_visit_key,
        proposals.task,
        events.event_type as object_type,
        count(*) as n,
        count(distinct proposals.relation) as n_relations
    from proposals
    left join events
        on proposals.object_event_key = events.event_key
    group by all

)

select *
from counted
where (generator = 'kb_rules' and n > n_relations * {{ var('kb_rules_per_visit') }})
    or (generator = 'shuffled_visits' and n > {{ var('shuffled_per_visit') }})
