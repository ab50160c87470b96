-- Events in the scenario of a released item that are of another visit, dated after the discharge,
-- or of a kind that tells what came later: orders and procedures outside px, codes that follow from
-- treatment in tx.
with

released as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where released

),

templates as (

    select * from {{ ref('fct_templates') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

shown as (

    select
        templates.template_key,
        templates.task,
        triples.visit_key,
        unnest(string_split(templates.scenario_event_keys, ',')) as event_key
    from released
    inner join templates
        on released.template_key = templates.template_key
    inner join triples
        on templates.triple_id = triples.triple_id

)

select
    shown.template_key,
    shown.event_key
from shown
left join events
    on shown.event_key = events.event_key
left join visits
    on shown.visit_key = visits.visit_key
where events.visit_key is distinct from visits.visit_key
    or events.first_at > visits.discharged_at
    or (shown.task in ('dx', 'tx') and events.event_type <> 'diagnosis')
    or (shown.task = 'tx' and events.is_hindsight)
