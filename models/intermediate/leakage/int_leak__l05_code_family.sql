-- L05: a scenario code lies in the category of the answer's code, or of another code that stands
-- for the answer's concept, in either version of ICD. A code that begins with another has its
-- category.
with

templates as (

    select * from {{ ref('int_template_forms') }}
    where task in ('dx', 'px')

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

concept_codes as (

    select * from {{ ref('int_leak_concept_codes') }}

),

scenario_codes as (

    select * from {{ ref('int_leak_scenario_codes') }}

),

answer_codes as (

    select
        templates.template_key,
        events.code_system,
        events.normalized_code
    from templates
    inner join events
        on templates.answer_event_key = events.event_key

    union

    select
        templates.template_key,
        concept_codes.code_system,
        concept_codes.normalized_code
    from templates
    inner join concept_codes
        on templates.answer_cui_id = concept_codes.cui_id

),

found as (

    select
        'L05' as rule_id,
        'template' as scope,
        answer_codes.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(concat(
            scenario_codes.code_system, ' ', scenario_codes.normalized_code, ' beside ',
            answer_codes.normalized_code
        )) as evidence
    from answer_codes
    inner join scenario_codes
        on answer_codes.template_key = scenario_codes.template_key
        and answer_codes.code_system = scenario_codes.code_system
        and {{ icd_category('answer_codes.code_system', 'answer_codes.normalized_code') }}
            = {{ icd_category('scenario_codes.code_system', 'scenario_codes.normalized_code') }}
    group by answer_codes.template_key

)

select * from found
