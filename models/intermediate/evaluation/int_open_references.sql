-- What the reply to an open-ended question may name. Roles: gold (the answer), subject (the other
-- end of the relation), other (answers that the visit supports as well) and shown (what the prompt
-- shows, which earns nothing when it is said again). Knows the answer and holds no text.
with

requests as (

    select distinct template_key
    from {{ ref('int_answer_requests') }}
    where format = 'oeq'

),

templates as (

    select * from {{ ref('int_templates') }}

),

scenario_concepts as (

    select * from {{ ref('int_scenario_concepts') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

mappings as not materialized (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

newly_coded as (

    select * from {{ ref('int_newly_coded_diagnoses') }}
    where is_newly_coded

),

supported_pairs as (

    select * from {{ ref('int_supported_pairs') }}

),

equivalents as (

    select * from {{ ref('int_concept_equivalents') }}

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}

),

ancestors as (

    select * from {{ ref('int_concept_ancestors') }}
    where depth = 1

),

hubs as (

    select * from {{ ref('int_concept_hubs') }}
    where is_hub

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

code_concepts as (

    select * from {{ ref('int_icd_code_concepts') }}
    where mapping_level = 'exact'
        and cui_id is not null

),

asked as (

    select templates.*
    from templates
    semi join requests
        on templates.template_key = requests.template_key

),

shown as (

    select
        asked.template_key,
        scenario_concepts.cui_id
    from asked
    inner join scenario_concepts
        on asked.template_number = scenario_concepts.template_number

),

shown_relatives as (

    select
        shown.template_key,
        relatives.relative_cui_id as cui_id
    from shown
    inner join relatives
        on shown.cui_id = relatives.cui_id

    union

    select
        shown.template_key,
        relatives.cui_id
    from shown
    inner join relatives
        on shown.cui_id = relatives.relative_cui_id

    union

    select * from shown

),

visit_concepts as (

    select
        events.visit_key,
        events.event_type,
        events.is_status_code,
        mappings.rank,
        mappings.cui_id
    from events
    inner join mappings
        on events.event_key = mappings.event_key
    where events.visit_key in (select asked.visit_key from asked where asked.task in ('dx', 'tx'))

),

-- A treatment that was ordered and that the literature supports for any diagnosis of the visit.
other_treatments as (

    select distinct
        asked.template_key,
        ordered.cui_id
    from asked
    inner join visit_concepts as ordered
        on asked.visit_key = ordered.visit_key
        and asked.answer_event_type = ordered.event_type
        and ordered.rank = 1
    inner join visit_concepts as diagnoses
        on asked.visit_key = diagnoses.visit_key
        and diagnoses.event_type = 'diagnosis'
    inner join supported_pairs
        on asked.relation = supported_pairs.relation
        and diagnoses.cui_id = supported_pairs.subject_cui_id
        and ordered.cui_id = supported_pairs.object_cui_id
    where asked.task = 'tx'

),

-- Any further diagnosis that was coded.
other_diagnoses as (

    select distinct
        asked.template_key,
        visit_concepts.cui_id
    from asked
    inner join visit_concepts
        on asked.visit_key = visit_concepts.visit_key
        and visit_concepts.event_type = 'diagnosis'
        and visit_concepts.rank = 1
        and not visit_concepts.is_status_code
    where asked.task = 'dx'

    union

    select
        asked.template_key,
        mappings.cui_id
    from asked
    inner join newly_coded
        on asked.visit_key = newly_coded.index_visit_key
        and asked.target_visit_key = newly_coded.visit_key
    inner join mappings
        on newly_coded.event_key = mappings.event_key
        and mappings.rank = 1
    where asked.task = 'px'

),

ends as (

    select
        template_key,
        'gold' as role,
        answer_cui_id as cui_id
    from asked

    union

    select
        asked.template_key,
        'subject' as role,
        mappings.cui_id
    from asked
    inner join mappings
        on asked.subject_event_key = mappings.event_key

    union

    select
        template_key,
        'other' as role,
        cui_id
    from other_treatments

    union

    -- A relative of what is shown is no further diagnosis.
    select
        other_diagnoses.template_key,
        'other' as role,
        other_diagnoses.cui_id
    from other_diagnoses
    anti join shown_relatives
        on other_diagnoses.template_key = shown_relatives.template_key
        and other_diagnoses.cui_id = shown_relatives.cui_id

    union

    select
        template_key,
        'shown' as role,
        cui_id
    from shown

),

end_concepts as (

    select
        cui_id,
        bool_or(role = 'gold') as is_gold
    from ends
    group by cui_id

),

gold_categories as (

    select distinct
        end_concepts.cui_id,
        code_concepts.code_system,
        {{ icd_category('code_concepts.code_system', 'code_concepts.normalized_code') }} as category
    from end_concepts
    inner join code_concepts
        on end_concepts.cui_id = code_concepts.cui_id
    where end_concepts.is_gold

),

near_concepts as (

    select
        cui_id,
        cui_id as near_cui_id,
        'self' as step
    from end_concepts

    union

    select
        end_concepts.cui_id,
        equivalents.equivalent_cui_id as near_cui_id,
        'equivalent' as step
    from end_concepts
    inner join equivalents
        on end_concepts.cui_id = equivalents.cui_id

    union

    select
        end_concepts.cui_id,
        relatives.relative_cui_id as near_cui_id,
        'child' as step
    from end_concepts
    inner join relatives
        on end_concepts.cui_id = relatives.cui_id
        and relatives.relation = 'descendant'

    union

    -- A concept as wide as a hub says nothing of the answer.
    select
        end_concepts.cui_id,
        ancestors.ancestor_cui_id as near_cui_id,
        'parent' as step
    from end_concepts
    inner join ancestors
        on end_concepts.cui_id = ancestors.cui_id
    anti join hubs
        on ancestors.ancestor_cui_id = hubs.cui_id
    where end_concepts.is_gold

    union

    select
        end_concepts.cui_id,
        relatives.relative_cui_id as near_cui_id,
        'same_class' as step
    from end_concepts
    inner join relatives
        on end_concepts.cui_id = relatives.cui_id
        and relatives.relation = 'same_class'
    where end_concepts.is_gold

    union

    select
        end_concepts.cui_id,
        combination_parts.combination_cui_id as near_cui_id,
        'same_class' as step
    from end_concepts
    inner join combination_parts
        on end_concepts.cui_id = combination_parts.part_cui_id
    where end_concepts.is_gold

    union

    select
        gold_categories.cui_id,
        code_concepts.cui_id as near_cui_id,
        'same_class' as step
    from gold_categories
    inner join code_concepts
        on gold_categories.code_system = code_concepts.code_system
        and gold_categories.category
            = {{ icd_category('code_concepts.code_system', 'code_concepts.normalized_code') }}

),

open_references as (

    select distinct
        ends.template_key,
        ends.role,
        near_concepts.near_cui_id as cui_id,
        near_concepts.step
    from ends
    inner join near_concepts
        on ends.cui_id = near_concepts.cui_id
    left join shown
        on ends.template_key = shown.template_key
        and near_concepts.near_cui_id = shown.cui_id
    where (ends.role = 'gold' or near_concepts.step in ('self', 'equivalent', 'child'))
        and (ends.role <> 'shown' or near_concepts.step = 'self')
        -- What the prompt shows is no find, near as it may be.
        and (
            ends.role in ('subject', 'shown')
            or near_concepts.step = 'self'
            or shown.cui_id is null
        )

)

select * from open_references
