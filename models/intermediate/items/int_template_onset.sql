-- One row per px template with the onset class of its answer's code: the most specific rule of
-- the seed decides.
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

classed as (

    select
        templates.template_key,
        onset_classes.onset_class
    from templates
    inner join events
        on templates.answer_event_key = events.event_key
    inner join onset_classes
        on events.code_system = onset_classes.code_system
        and {{ code_in_range('events.normalized_code', 'onset_classes.code_from',
            'onset_classes.code_to') }}
    qualify row_number() over (
        partition by templates.template_key
        order by onset_classes.specificity desc, onset_classes.code_from
    ) = 1

)

select * from classed
