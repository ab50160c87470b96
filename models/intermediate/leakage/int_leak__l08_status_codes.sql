-- L08: a scenario code says of itself that the patient has the answer's treatment (long-term use,
-- dialysis, transplant, device, adverse effect). Decided on codes: such codes often have no
-- concept.
with

templates as (

    select * from {{ ref('int_template_forms') }}
    where task = 'tx'

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

scenario_codes as (

    select * from {{ ref('int_leak_scenario_codes') }}

),

status_code_reveals as (

    select * from {{ ref('status_code_reveals') }}

),

treatment_targets as (

    select * from {{ ref('treatment_targets') }}

),

concept_codes as (

    select * from {{ ref('int_leak_concept_codes') }}

),

concepts as (

    select * from {{ ref('dim_concepts') }}

),

drug_atoms as (

    select * from {{ ref('int_drug_atoms') }}

),

drug_ingredients as (

    select * from {{ ref('int_drug_ingredients') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}

),

answers as (

    select distinct
        templates.answer_event_type,
        templates.answer_cui_id,
        coalesce(drug_ingredients.ingredient_cui_id, templates.answer_cui_id) as ingredient_cui_id,
        events.code_system,
        events.normalized_code
    from templates
    inner join events
        on templates.answer_event_key = events.event_key
    left join drug_ingredients
        on templates.answer_cui_id = drug_ingredients.cui_id
        and templates.answer_event_type = 'medication'

),

by_class as (

    select
        answers.answer_event_type,
        answers.answer_cui_id,
        treatment_targets.treatment
    from answers
    inner join drug_classes
        on answers.ingredient_cui_id = drug_classes.cui_id
    inner join treatment_targets
        on treatment_targets.target_kind = 'atc'
        and drug_classes.atc_code = treatment_targets.target
    where answers.answer_event_type = 'medication'

),

answer_names as (

    select
        answers.answer_event_type,
        answers.answer_cui_id,
        concepts.name
    from answers
    inner join concepts
        on answers.answer_cui_id = concepts.cui_id

    union

    select
        answers.answer_event_type,
        answers.answer_cui_id,
        drug_atoms.name
    from answers
    inner join drug_atoms
        on answers.ingredient_cui_id = drug_atoms.cui_id
    where answers.answer_event_type = 'medication'

),

answer_words as (

    select distinct
        answer_event_type,
        answer_cui_id,
        unnest(string_split(trim({{ leak_words('name') }}), ' ')) as word
    from answer_names

),

by_name as (

    select
        answer_words.answer_event_type,
        answer_words.answer_cui_id,
        treatment_targets.treatment
    from answer_words
    inner join treatment_targets
        on treatment_targets.target_kind = concat(answer_words.answer_event_type, '_word')
        and answer_words.word = treatment_targets.target

),

answer_codes as (

    select
        answer_event_type,
        answer_cui_id,
        code_system,
        normalized_code
    from answers

    union

    select
        answers.answer_event_type,
        answers.answer_cui_id,
        concept_codes.code_system,
        concept_codes.normalized_code
    from answers
    inner join concept_codes
        on answers.answer_cui_id = concept_codes.cui_id

),

by_code as (

    select
        answer_codes.answer_event_type,
        answer_codes.answer_cui_id,
        treatment_targets.treatment
    from answer_codes
    inner join treatment_targets
        on answer_codes.code_system = treatment_targets.target_kind
        and substr(answer_codes.normalized_code, 1, length(treatment_targets.target))
            = treatment_targets.target
    where answer_codes.answer_event_type = 'procedure'

),

answer_treatments as (

    select * from by_class
    union
    select * from by_name
    union
    select * from by_code

),

scenario_treatments as (

    select
        scenario_codes.template_key,
        scenario_codes.code_system,
        scenario_codes.normalized_code,
        status_code_reveals.treatment
    from scenario_codes
    inner join status_code_reveals
        on scenario_codes.code_system = status_code_reveals.code_system
        and {{ code_in_range('scenario_codes.normalized_code', 'status_code_reveals.code_from',
            'status_code_reveals.code_to') }}

),

found as (

    select
        'L08' as rule_id,
        'template' as scope,
        templates.template_key,
        cast(null as varchar) as item_id,
        cast(null as varchar) as option_key,
        min(concat(
            scenario_treatments.code_system, ' ', scenario_treatments.normalized_code, ' says ',
            scenario_treatments.treatment
        )) as evidence
    from templates
    inner join scenario_treatments
        on templates.template_key = scenario_treatments.template_key
    inner join answer_treatments
        on templates.answer_event_type = answer_treatments.answer_event_type
        and templates.answer_cui_id = answer_treatments.answer_cui_id
        and scenario_treatments.treatment = answer_treatments.treatment
    group by templates.template_key

)

select * from found
