-- px templates whose answer is no news: a diagnosis of the person up to the index visit has its
-- concept, a relative of it or the ICD category of a code that stands for it, in either version.
-- Every source of the person counts: a visit is one up to the index visit when it ended by the
-- index discharge, or when its source numbers it so.
with

templates as (

    select * from {{ ref('int_templates') }}
    where task = 'px'

),

visits as (

    select * from {{ ref('dim_visits') }}

),

diagnoses as not materialized (

    select * from {{ ref('fct_visit_events') }}
    where event_type = 'diagnosis'

),

mappings as not materialized (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

concept_codes as (

    select * from {{ ref('int_leak_concept_codes') }}

),

-- Drugs of one class say nothing about diagnoses.
relatives as (

    select
        cui_id,
        relative_cui_id
    from {{ ref('int_concept_relatives') }}
    where relation <> 'same_class'
        and cui_id <> relative_cui_id

),

persons as (

    select distinct person_group from templates

),

asked as (

    select
        templates.template_number,
        templates.template_key,
        templates.person_group,
        templates.answer_event_key,
        templates.answer_cui_id,
        index_visits.source,
        index_visits.visit_number,
        index_visits.discharged_at
    from templates
    inner join visits as index_visits
        on templates.visit_key = index_visits.visit_key

),

answer_categories as (

    select
        asked.template_number,
        answers.code_system,
        {{ icd_category('answers.code_system', 'answers.normalized_code') }} as icd_category
    from asked
    inner join diagnoses as answers
        on asked.answer_event_key = answers.event_key

    union

    select
        asked.template_number,
        concept_codes.code_system,
        {{ icd_category('concept_codes.code_system', 'concept_codes.normalized_code') }}
            as icd_category
    from asked
    inner join concept_codes
        on asked.answer_cui_id = concept_codes.cui_id

),

coded as (

    select
        visits.person_group,
        visits.source,
        visits.visit_number,
        visits.discharged_at,
        diagnoses.event_key,
        diagnoses.code_system,
        diagnoses.normalized_code,
        {{ icd_category('diagnoses.code_system', 'diagnoses.normalized_code') }} as icd_category
    from persons
    inner join visits
        on persons.person_group = visits.person_group
    inner join diagnoses
        on visits.visit_key = diagnoses.visit_key

),

answer_concepts as (

    select
        asked.template_number,
        mappings.cui_id
    from asked
    inner join mappings
        on asked.answer_event_key = mappings.event_key

    union

    select
        template_number,
        answer_cui_id as cui_id
    from asked

),

telling_concepts as (

    select
        template_number,
        cui_id,
        'concept' as found_by
    from answer_concepts

    union

    select
        answer_concepts.template_number,
        relatives.relative_cui_id as cui_id,
        'relative' as found_by
    from answer_concepts
    inner join relatives
        on answer_concepts.cui_id = relatives.cui_id

    union

    select
        answer_concepts.template_number,
        relatives.cui_id,
        'relative' as found_by
    from answer_concepts
    inner join relatives
        on answer_concepts.cui_id = relatives.relative_cui_id

),

coded_alike as (

    select
        asked.template_number,
        coded.event_key,
        telling_concepts.found_by
    from asked
    inner join telling_concepts
        on asked.template_number = telling_concepts.template_number
    inner join coded
        on asked.person_group = coded.person_group
    inner join mappings
        on coded.event_key = mappings.event_key
        and telling_concepts.cui_id = mappings.cui_id

    union

    select
        asked.template_number,
        coded.event_key,
        'category' as found_by
    from asked
    inner join answer_categories
        on asked.template_number = answer_categories.template_number
    inner join coded
        on asked.person_group = coded.person_group
        and answer_categories.code_system = coded.code_system
        and answer_categories.icd_category = coded.icd_category

),

coded_before as (

    select
        asked.template_key,
        coded_alike.found_by,
        coded.code_system,
        coded.normalized_code
    from coded_alike
    inner join asked
        on coded_alike.template_number = asked.template_number
    inner join coded
        on coded_alike.event_key = coded.event_key
    where coded.discharged_at <= asked.discharged_at
        or (asked.source = coded.source and coded.visit_number <= asked.visit_number)

),

found as (

    select
        template_key,
        min(concat(found_by, ' coded before: ', code_system, ' ', normalized_code)) as evidence
    from coded_before
    group by template_key

)

select
    'L13' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from found
