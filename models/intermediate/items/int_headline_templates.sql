-- Templates that headline figures count: no order-set drug, no answer that a coding convention puts
-- beside the scenario (it is known without medicine), and for px what is new rather than carried on.
with

templates as (

    select * from {{ ref('int_templates') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

onset as (

    select * from {{ ref('int_template_onset') }}

),

coding_conventions as (

    select * from {{ ref('int_leak__l06_code_conventions') }}

),

headline as (

    select templates.template_key
    from templates
    left join events
        on templates.answer_event_key = events.event_key
    left join onset
        on templates.template_key = onset.template_key
    anti join coding_conventions
        on templates.template_key = coding_conventions.template_key
    where not coalesce(events.is_routine, false)
        and (
            templates.task <> 'px'
            or coalesce(onset.onset_class in ('acute', 'progression'), false)
        )

)

select * from headline
