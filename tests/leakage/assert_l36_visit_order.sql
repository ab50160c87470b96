-- Released px items whose answer event is not of a later inpatient visit of the person, begun after
-- the index discharge and within the horizon.
with

released as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where released
        and task = 'px'

),

templates as (

    select * from {{ ref('fct_templates') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

timed as (

    select
        released.template_key,
        coalesce(
            index_visits.visit_key <> answer_visits.visit_key
            and index_visits.person_group = answer_visits.person_group
            and index_visits.visit_number < answer_visits.visit_number
            and answer_visits.visit_class = 'inpatient'
            and answer_visits.admitted_at > index_visits.discharged_at
            and answer_visits.admitted_at
                <= index_visits.discharged_at + to_days({{ var('px_horizon_days') }}),
            false
        ) as is_in_order
    from released
    left join templates
        on released.template_key = templates.template_key
    left join triples
        on templates.triple_id = triples.triple_id
    left join visits as index_visits
        on triples.visit_key = index_visits.visit_key
    left join events
        on templates.answer_event_key = events.event_key
    left join visits as answer_visits
        on events.visit_key = answer_visits.visit_key

)

select template_key
from timed
where not is_in_order
