-- One row per px template with the onset class of its answer's code: the most specific rule of
-- the seed decides. An answer in another code system is read as an ICD code of its concept.
with

templates as (

    select * from {{ ref('int_templates') }}
    where task = 'px'

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

onset_classes as (

    select * from {{ ref('onset_classes') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}
    where mapping_level in ('exact', 'equivalent')

),

answers as (

    select
        templates.template_key,
        templates.answer_cui_id,
        events.code_system,
        events.normalized_code
    from templates
    inner join events
        on templates.answer_event_key = events.event_key

),

classed_systems as (

    select distinct code_system
    from onset_classes

),

answer_codes as (

    select
        answers.template_key,
        answers.code_system,
        answers.normalized_code
    from answers
    inner join classed_systems
        on answers.code_system = classed_systems.code_system
    union all
    select
        answers.template_key,
        code_concepts.code_system,
        code_concepts.normalized_code
    from answers
    inner join code_concepts
        on answers.answer_cui_id = code_concepts.cui_id
    left join classed_systems
        on answers.code_system = classed_systems.code_system
    where classed_systems.code_system is null

),

classed as (

    select
        answer_codes.template_key,
        onset_classes.onset_class
    from answer_codes
    inner join onset_classes
        on answer_codes.code_system = onset_classes.code_system
        and {{ code_in_range('answer_codes.normalized_code', 'onset_classes.code_from',
            'onset_classes.code_to') }}
    qualify row_number() over (
        partition by answer_codes.template_key
        order by
            onset_classes.specificity desc,
            onset_classes.code_from,
            answer_codes.code_system,
            answer_codes.normalized_code
    ) = 1

)

select * from classed
