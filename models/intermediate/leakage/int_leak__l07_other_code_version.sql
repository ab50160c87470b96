-- L07: the answer of px is an old diagnosis in other letters: up to the index visit the patient has
-- a code of another system with the answer's concept, or one that the general equivalence mappings
-- pair with the answer's code. Approximate pairs count, parts of a combination do not.
with

templates as (

    select * from {{ ref('int_templates') }}
    where task = 'px'

),

events as not materialized (

    select * from {{ ref('fct_visit_events') }}
    where event_type = 'diagnosis'

),

visits as (

    select * from {{ ref('dim_visits') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null
        and mapping_level not in ('part', 'none')

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}
    where not is_combination

),

answers as (

    select
        templates.template_key,
        templates.patient_key,
        templates.answer_cui_id,
        index_visits.visit_number as index_visit_number,
        events.code_system,
        events.normalized_code
    from templates
    inner join events
        on templates.answer_event_key = events.event_key
    inner join visits as index_visits
        on templates.visit_key = index_visits.visit_key

),

patients as (

    select distinct patient_key from templates

),

coded_events as (

    select
        visits.patient_key,
        visits.visit_number,
        events.event_key,
        events.code_system,
        events.normalized_code
    from events
    inner join visits
        on events.visit_key = visits.visit_key
    inner join patients
        on visits.patient_key = patients.patient_key

),

by_concept as (

    select
        answers.template_key,
        concat(
            coded_events.code_system, ' ', coded_events.normalized_code,
            ' has the answer''s concept'
        ) as evidence
    from answers
    inner join coded_events
        on answers.patient_key = coded_events.patient_key
        and answers.index_visit_number >= coded_events.visit_number
        and answers.code_system <> coded_events.code_system
    inner join mappings
        on coded_events.event_key = mappings.event_key
        and answers.answer_cui_id = mappings.cui_id

),

gem_pairs as (

    select
        code_system,
        normalized_code,
        target_system as other_system,
        target_code as other_code
    from gem_targets

    union

    select
        target_system as code_system,
        target_code as normalized_code,
        code_system as other_system,
        normalized_code as other_code
    from gem_targets

),

by_mapping as (

    select
        answers.template_key,
        concat(
            coded_events.code_system, ' ', coded_events.normalized_code, ' maps to ',
            answers.normalized_code
        ) as evidence
    from answers
    inner join gem_pairs
        on answers.code_system = gem_pairs.code_system
        and answers.normalized_code = gem_pairs.normalized_code
    inner join coded_events
        on answers.patient_key = coded_events.patient_key
        and answers.index_visit_number >= coded_events.visit_number
        and gem_pairs.other_system = coded_events.code_system
        and gem_pairs.other_code = coded_events.normalized_code

),

coded_before as (

    select * from by_concept
    union all
    select * from by_mapping

),

found as (

    select
        'L07' as rule_id,
        'template' as scope,
        template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(evidence) as evidence
    from coded_before
    group by template_key

)

select * from found
