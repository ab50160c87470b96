-- Items of the evaluation subset whose answer the scenario of another one prints: the subset is
-- asked as one batch and printed side by side. Visits of one person that overlap in time are one
-- stay, whichever sources record it.
with

subset as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where in_subset

),

templates as (

    select * from {{ ref('fct_templates') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

visits as (

    select
        visit_key,
        person_group,
        admitted_at,
        coalesce(discharged_at, admitted_at) as ended_at
    from {{ ref('dim_visits') }}

),

mappings as (

    select
        event_key,
        cui
    from {{ ref('brg_event_concepts') }}
    where cui is not null

),

asked as (

    select
        templates.template_key,
        templates.answer_cui,
        shown_visits.person_group,
        shown_visits.visit_key,
        shown_visits.admitted_at,
        shown_visits.ended_at,
        answer_visits.visit_key as answer_visit_key,
        answer_visits.admitted_at as answer_admitted_at,
        answer_visits.ended_at as answer_ended_at,
        templates.scenario_event_keys
    from subset
    inner join templates
        on subset.template_key = templates.template_key
    inner join triples
        on templates.triple_id = triples.triple_id
    inner join visits as shown_visits
        on triples.visit_key = shown_visits.visit_key
    inner join visits as answer_visits
        on coalesce(triples.target_visit_key, triples.visit_key) = answer_visits.visit_key

),

printed as (

    select
        template_key,
        person_group,
        visit_key,
        admitted_at,
        ended_at,
        unnest(string_split(scenario_event_keys, ',')) as event_key
    from asked

)

select distinct
    asked.template_key,
    printed.template_key as printed_by
from asked
inner join printed
    on asked.person_group = printed.person_group
    and (
        asked.answer_visit_key = printed.visit_key
        or (
            asked.answer_admitted_at <= printed.ended_at
            and printed.admitted_at <= asked.answer_ended_at
        )
    )
    and asked.template_key <> printed.template_key
inner join mappings
    on printed.event_key = mappings.event_key
    and asked.answer_cui = mappings.cui
