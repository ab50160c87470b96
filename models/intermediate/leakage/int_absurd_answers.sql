-- One row per template x answer concept of its pool that can be ruled out without knowing the
-- case: the patient's sex or age forbids it, an Excludes1 note forbids it beside a code of the
-- scenario, or the drug is no longer one. Decided before distractors are drawn, for the draw to
-- leave them out. Years of birth are shifted and rounded, so an age is allowed a year either way.
with

templates as (

    select * from {{ ref('int_templates') }}

),

restrictions as (

    select * from {{ ref('int_concept_restrictions') }}

),

patients as (

    select * from {{ ref('dim_patients') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

excludes1 as (

    select * from {{ ref('int_icd_excludes1') }}

),

code_concepts as (

    select * from {{ ref('int_code_concepts') }}
    where rank = 1
        and mapping_level in ('exact', 'equivalent')

),

pool_answers as (

    select distinct
        pool_number,
        answer_event_type as event_type,
        answer_cui_id as cui_id
    from templates

),

pool_restrictions as (

    select
        pool_answers.pool_number,
        restrictions.*
    from pool_answers
    inner join restrictions
        on pool_answers.event_type = restrictions.event_type
        and pool_answers.cui_id = restrictions.cui_id

),

template_patients as (

    select
        templates.template_number,
        templates.pool_number,
        patients.sex,
        year(visits.admitted_at) - patients.birth_year as age
    from templates
    inner join patients
        on templates.patient_key = patients.patient_key
    inner join visits
        on templates.visit_key = visits.visit_key

),

restricted as (

    select
        template_patients.template_number,
        pool_restrictions.cui_id,
        case
            when template_patients.sex <> 'unknown'
                and template_patients.sex <> pool_restrictions.sex then 'sex'
            when template_patients.age + 1 < pool_restrictions.min_age
                or template_patients.age - 1 > pool_restrictions.max_age then 'age'
            when pool_restrictions.is_obsolete then 'obsolete'
        end as reason
    from template_patients
    inner join pool_restrictions
        on template_patients.pool_number = pool_restrictions.pool_number

),

-- Codes of one pair exclude each other; which of them the note stands at does not matter.
excluded_concepts as (

    select distinct
        excludes1.code_system,
        excludes1.code,
        code_concepts.cui_id
    from excludes1
    inner join code_concepts
        on excludes1.code_system = code_concepts.code_system
        and excludes1.excluded_code = code_concepts.normalized_code

),

scenario_codes as (

    select distinct
        templates.template_number,
        templates.pool_number,
        events.code_system,
        events.normalized_code as code
    from scenario
    inner join templates
        on scenario.template_key = templates.template_key
    inner join events
        on scenario.event_key = events.event_key
    where events.code_system in (select code_system from excludes1)

),

excluded as (

    select
        scenario_codes.template_number,
        excluded_concepts.cui_id,
        'excludes1' as reason
    from scenario_codes
    inner join excluded_concepts
        on scenario_codes.code_system = excluded_concepts.code_system
        and scenario_codes.code = excluded_concepts.code
    inner join pool_answers
        on scenario_codes.pool_number = pool_answers.pool_number
        and excluded_concepts.cui_id = pool_answers.cui_id
    where pool_answers.event_type = 'diagnosis'

),

united as (

    select * from restricted
    where reason is not null
    union all
    select * from excluded

),

absurd as (

    select
        united.template_number,
        united.cui_id,
        min(united.reason) as reason,
        bool_or(united.cui_id = templates.answer_cui_id) as is_answer
    from united
    inner join templates
        on united.template_number = templates.template_number
    group by
        united.template_number,
        united.cui_id

)

select * from absurd
