-- Templates whose scenario shows what was not known at the index time (the end of the visit): an
-- event of another visit, one dated after the discharge, a type of event that the task does not
-- show, and for tx a code that follows from treatment. ICD codes carry no time of their own, so
-- that dx and tx as a whole are hindsight; that is a fact of the tasks and no row here.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

events as not materialized (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

event_types as (

    select * from {{ ref('scenario_event_types') }}

),

hindsight_codes as (

    select * from {{ ref('hindsight_codes') }}

),

codes as (

    select distinct
        code_system,
        normalized_code
    from events
    where event_type = 'diagnosis'

),

codes_of_treatment as (

    select distinct
        codes.code_system,
        codes.normalized_code
    from codes
    inner join hindsight_codes
        on codes.code_system = hindsight_codes.code_system
        and {{ code_in_range('codes.normalized_code', 'hindsight_codes.code_from',
            'hindsight_codes.code_to') }}

),

judged as (

    select
        scenario.template_key,
        concat(events.code_system, ' ', events.normalized_code) as code,
        case
            when events.visit_key is distinct from templates.visit_key then 'event of another visit'
            when events.first_at > visits.discharged_at then 'dated after the discharge'
            when event_types.event_type is null then 'type that the task does not show'
            when templates.task = 'tx' and codes_of_treatment.normalized_code is not null
                then 'follows from treatment'
        end as problem
    from scenario
    inner join templates
        on scenario.template_key = templates.template_key
    left join events
        on scenario.event_key = events.event_key
    left join visits
        on templates.visit_key = visits.visit_key
    left join event_types
        on templates.task = event_types.task
        and events.event_type = event_types.event_type
    left join codes_of_treatment
        on events.code_system = codes_of_treatment.code_system
        and events.normalized_code = codes_of_treatment.normalized_code

),

found as (

    select
        template_key,
        min(concat(problem, ': ', code)) as evidence
    from judged
    where problem is not null
    group by template_key

)

select
    'L14' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from found
