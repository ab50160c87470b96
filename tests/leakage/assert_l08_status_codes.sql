-- Released items of tx with a scenario code that says the treatment asked for: its own class, a
-- word of its name, or its procedure code is among what the code reveals.
with

items as (

    select distinct template_key from {{ ref('dim_items') }}
    where released
        and task = 'tx'

),

templates as (

    select * from {{ ref('fct_templates') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

concepts as (

    select * from {{ ref('dim_concepts') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}

),

status_code_reveals as (

    select * from {{ ref('status_code_reveals') }}

),

treatment_targets as (

    select * from {{ ref('treatment_targets') }}

),

shown as (

    select
        templates.template_key,
        templates.answer_event_key,
        templates.answer_event_type,
        templates.answer_cui,
        unnest(string_split(templates.scenario_event_keys, ',')) as event_key
    from items
    inner join templates
        on items.template_key = templates.template_key

),

revealed as (

    select distinct
        shown.template_key,
        shown.answer_event_type,
        events.normalized_code as shown_code,
        treatment_targets.target_kind,
        treatment_targets.target,
        answers.code_system as answer_system,
        answers.normalized_code as answer_code,
        concepts.cui_id as answer_cui_id,
        concepts.name as answer_name
    from shown
    inner join events
        on shown.event_key = events.event_key
    inner join status_code_reveals
        on events.code_system = status_code_reveals.code_system
        and {{ code_in_range('events.normalized_code', 'status_code_reveals.code_from',
            'status_code_reveals.code_to') }}
    inner join treatment_targets
        on status_code_reveals.treatment = treatment_targets.treatment
    inner join events as answers
        on shown.answer_event_key = answers.event_key
    left join concepts
        on shown.answer_cui = concepts.cui

)

select distinct
    revealed.template_key,
    revealed.shown_code,
    revealed.target
from revealed
left join drug_classes
    on revealed.answer_cui_id = drug_classes.cui_id
    and revealed.target_kind = 'atc'
    and revealed.target = drug_classes.atc_code
where (revealed.answer_event_type = 'medication' and drug_classes.cui_id is not null)
    or (
        revealed.target_kind = concat(revealed.answer_event_type, '_word')
        and contains({{ leak_words('revealed.answer_name') }}, concat(' ', revealed.target, ' '))
    )
    or (
        revealed.target_kind = revealed.answer_system
        and substr(revealed.answer_code, 1, length(revealed.target)) = revealed.target
    )
