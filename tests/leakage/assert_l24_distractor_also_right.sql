-- Distractors of released items that could be right: the person has the concept in some visit of
-- any source, ordered or only administered, itself, by an equivalent or one above or below it, or,
-- for a diagnosis, a code in the ICD category of a code that is mapped to the concept, in either
-- version, or of one family (seed icd_families) with such a code; the knowledge base
-- supports it at exact concepts for a scenario event under a relation of the task; it is in one
-- drug class with the answer, or above or below it. Of the supported ones a template may show var
-- max_context_critical that a context event rules out by a curated contraindication or a severe
-- interaction, and items that show one say so. Written apart from the models that exclude them.
with

-- Items of a template with one option count show the same options.
items as (

    select * from {{ ref('dim_items') }}
    where released
        and format = 'mcq'
    qualify row_number() over (
        partition by template_key, n_options
        order by item_id
    ) = 1

),

options as (

    select * from {{ ref('fct_item_options') }}

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

templates as (

    select * from {{ ref('fct_templates') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

edge_roles as (

    select * from {{ ref('int_edge_roles') }}
    where role = 'support'

),

relations as (

    select * from {{ ref('relations') }}

),

curated_edges as (

    select * from {{ ref('int_curated_edges') }}

),

conflict_predicates as (

    select * from {{ ref('conflict_predicates') }}
    where kb = 'umls'
        and effect = 'harm'
        and rule in ('{{ var('context_critical_rules') | join("', '") }}')

),

interactions as (

    select * from {{ ref('int_drug_interactions') }}
    where severity = 'severe'
        and 'severe_interaction' in ('{{ var('context_critical_rules') | join("', '") }}')

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}
    where level = {{ var('class_relative_level') }}

),

ancestors as (

    select * from {{ ref('int_concept_ancestors') }}

),

equivalents as (

    select * from {{ ref('int_concept_equivalents') }}

),

gem_targets as (

    select * from {{ ref('int_gem_targets') }}

),

icd_code_systems as (

    select * from {{ ref('icd_code_systems') }}
    where code_kind = 'diagnosis'

),

icd_families as (

    select * from {{ ref('icd_families') }}

),

administrations as (

    select
        visit_key,
        {{ cui_id('normalized_code') }} as cui_id
    from {{ ref('int_administrations_mapped') }}

),

distractors as (

    select
        items.template_key,
        options.option_key,
        {{ cui_id('options.cui') }} as cui_id,
        {{ cui_id('answer_keys.gold_cui') }} as answer_cui_id,
        min(items.n_options) as first_shown
    from items
    inner join options
        on items.item_id = options.item_id
    inner join answer_keys
        on items.item_id = answer_keys.item_id
        and options.option_key <> answer_keys.gold_option_key
    group by all

),

persons as (

    select distinct
        patient_key,
        person_group
    from visits

),

asked as (

    select distinct
        persons.person_group,
        distractors.cui_id
    from distractors
    inner join templates
        on distractors.template_key = templates.template_key
    inner join persons
        on templates.patient_key = persons.patient_key

),

person_events as (

    select
        visits.person_group,
        events.event_key,
        events.code_system,
        events.normalized_code,
        events.event_type = 'diagnosis' as is_diagnosis,
        icd_code_systems.code_system is not null as is_icd
    from visits
    semi join asked
        on visits.person_group = asked.person_group
    inner join events
        on visits.visit_key = events.visit_key
    left join icd_code_systems
        on events.code_system = icd_code_systems.code_system

),

same_concepts as (

    select
        cui_id,
        equivalent_cui_id as same_cui_id
    from equivalents

    union

    select
        equivalent_cui_id as cui_id,
        cui_id as same_cui_id
    from equivalents

    union

    select
        cui_id,
        cui_id as same_cui_id
    from asked

),

asked_near as (

    select
        asked_same.cui_id,
        asked_same.same_cui_id as near_cui_id
    from same_concepts as asked_same
    semi join asked
        on asked_same.cui_id = asked.cui_id

    union

    select
        asked_same.cui_id,
        ancestors.ancestor_cui_id as near_cui_id
    from same_concepts as asked_same
    semi join asked
        on asked_same.cui_id = asked.cui_id
    inner join ancestors
        on asked_same.same_cui_id = ancestors.cui_id

    union

    select
        asked_same.cui_id,
        ancestors.cui_id as near_cui_id
    from same_concepts as asked_same
    semi join asked
        on asked_same.cui_id = asked.cui_id
    inner join ancestors
        on asked_same.same_cui_id = ancestors.ancestor_cui_id

),

asked_reach as (

    select * from asked_near

    union

    select
        asked_near.cui_id,
        same_concepts.same_cui_id as near_cui_id
    from asked_near
    inner join same_concepts
        on asked_near.near_cui_id = same_concepts.cui_id

),

mapped_codes as (

    select distinct
        mappings.cui_id,
        events.code_system,
        events.normalized_code
    from events
    inner join icd_code_systems
        on events.code_system = icd_code_systems.code_system
    inner join mappings
        on events.event_key = mappings.event_key

),

asked_codes as (

    select mapped_codes.*
    from mapped_codes
    semi join asked
        on mapped_codes.cui_id = asked.cui_id

),

person_codes as (

    select
        person_group,
        code_system,
        normalized_code
    from person_events
    where is_diagnosis
        and is_icd

    union

    select
        person_events.person_group,
        mapped_codes.code_system,
        mapped_codes.normalized_code
    from person_events
    inner join mappings
        on person_events.event_key = mappings.event_key
    inner join mapped_codes
        on mappings.cui_id = mapped_codes.cui_id
    where person_events.is_diagnosis
        and not person_events.is_icd
        and mappings.mapping_level in ('exact', 'equivalent')

),

codes as (

    select
        code_system,
        normalized_code
    from person_codes

    union

    select
        code_system,
        normalized_code
    from asked_codes

),

-- A code's categories: its own, those that it is translated to, either way, and its families.
code_categories as (

    select
        code_system,
        normalized_code,
        code_system as category_system,
        {{ icd_category('code_system', 'normalized_code') }} as category
    from codes

    union

    select
        codes.code_system,
        codes.normalized_code,
        'family' as category_system,
        icd_families.family as category
    from codes
    inner join icd_families
        on codes.code_system = icd_families.code_system
        and {{ code_in_range('codes.normalized_code', 'icd_families.code_from',
            'icd_families.code_to') }}

    union

    select
        code_system,
        normalized_code,
        target_system as category_system,
        {{ icd_category('target_system', 'target_code') }} as category
    from gem_targets
    where not is_combination

    union

    select
        target_system as code_system,
        target_code as normalized_code,
        gem_targets.code_system as category_system,
        {{ icd_category('gem_targets.code_system', 'gem_targets.normalized_code') }} as category
    from gem_targets
    where not is_combination

),

person_categories as (

    select distinct
        person_codes.person_group,
        code_categories.category_system,
        code_categories.category
    from person_codes
    inner join code_categories
        on person_codes.code_system = code_categories.code_system
        and person_codes.normalized_code = code_categories.normalized_code

),

asked_categories as (

    select distinct
        asked_codes.cui_id,
        code_categories.category_system,
        code_categories.category
    from asked_codes
    inner join code_categories
        on asked_codes.code_system = code_categories.code_system
        and asked_codes.normalized_code = code_categories.normalized_code

),

person_concepts as (

    select
        person_events.person_group,
        mappings.cui_id
    from person_events
    inner join mappings
        on person_events.event_key = mappings.event_key

    union

    select
        visits.person_group,
        administrations.cui_id
    from visits
    inner join administrations
        on visits.visit_key = administrations.visit_key

),

recorded as (

    select
        asked.person_group,
        asked.cui_id
    from asked
    inner join asked_reach
        on asked.cui_id = asked_reach.cui_id
    inner join person_concepts
        on asked.person_group = person_concepts.person_group
        and asked_reach.near_cui_id = person_concepts.cui_id

    union

    select
        asked.person_group,
        asked.cui_id
    from asked
    inner join asked_categories
        on asked.cui_id = asked_categories.cui_id
    inner join person_categories
        on asked.person_group = person_categories.person_group
        and asked_categories.category_system = person_categories.category_system
        and asked_categories.category = person_categories.category

),

in_record as (

    select
        distractors.template_key,
        distractors.option_key,
        'in_record' as found_by
    from distractors
    inner join templates
        on distractors.template_key = templates.template_key
    inner join persons
        on templates.patient_key = persons.patient_key
    inner join recorded
        on persons.person_group = recorded.person_group
        and distractors.cui_id = recorded.cui_id

),

like_answer as (

    select
        distractors.template_key,
        distractors.option_key,
        'class_of_answer' as found_by
    from distractors
    inner join drug_classes as answer_classes
        on distractors.answer_cui_id = answer_classes.cui_id
    inner join drug_classes as option_classes
        on distractors.cui_id = option_classes.cui_id
        and answer_classes.atc_code = option_classes.atc_code

    union all

    select
        distractors.template_key,
        distractors.option_key,
        'above_or_below_answer' as found_by
    from distractors
    inner join ancestors
        on distractors.cui_id = ancestors.cui_id
        and distractors.answer_cui_id = ancestors.ancestor_cui_id

    union all

    select
        distractors.template_key,
        distractors.option_key,
        'above_or_below_answer' as found_by
    from distractors
    inner join ancestors
        on distractors.answer_cui_id = ancestors.cui_id
        and distractors.cui_id = ancestors.ancestor_cui_id

),

scenario_concepts as (

    select
        scenario.template_key,
        scenario.event_key,
        scenario.event_key = templates.subject_event_key as is_subject,
        templates.task,
        mappings.cui_id
    from scenario
    inner join templates
        on scenario.template_key = templates.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key

),

supported as (

    select distinct
        distractors.template_key,
        distractors.option_key,
        distractors.first_shown,
        scenario_concepts.event_key
    from distractors
    inner join scenario_concepts
        on distractors.template_key = scenario_concepts.template_key
    inner join relations
        on scenario_concepts.task = relations.task
    inner join edge_roles
        on relations.relation = edge_roles.relation
        and scenario_concepts.cui_id = edge_roles.subject_cui_id
        and distractors.cui_id = edge_roles.object_cui_id

),

ruled_out as (

    select
        distractors.template_key,
        distractors.option_key,
        scenario_concepts.event_key
    from distractors
    inner join scenario_concepts
        on distractors.template_key = scenario_concepts.template_key
        and not scenario_concepts.is_subject
    inner join curated_edges
        on distractors.cui_id = curated_edges.subject_cui_id
        and scenario_concepts.cui_id = curated_edges.object_cui_id
    inner join conflict_predicates
        on curated_edges.rela = conflict_predicates.predicate_or_rela

    union

    select
        distractors.template_key,
        distractors.option_key,
        scenario_concepts.event_key
    from distractors
    inner join scenario_concepts
        on distractors.template_key = scenario_concepts.template_key
        and not scenario_concepts.is_subject
    inner join interactions
        on distractors.cui_id = interactions.cui_id
        and scenario_concepts.cui_id = interactions.other_cui_id

),

-- The event that rules it out must not be one that it is said to help in.
proven_wrong as (

    select distinct
        ruled_out.template_key,
        ruled_out.option_key
    from ruled_out
    anti join supported
        on ruled_out.template_key = supported.template_key
        and ruled_out.option_key = supported.option_key
        and ruled_out.event_key = supported.event_key

),

context_critical as (

    select distinct
        supported.template_key,
        supported.option_key,
        supported.first_shown
    from supported
    inner join proven_wrong
        on supported.template_key = proven_wrong.template_key
        and supported.option_key = proven_wrong.option_key

),

could_be_right as (

    select
        supported.template_key,
        supported.option_key,
        'supported' as found_by
    from supported
    anti join context_critical
        on supported.template_key = context_critical.template_key
        and supported.option_key = context_critical.option_key

),

too_many as (

    select
        template_key,
        max(option_key) as option_key,
        'too_many_context_critical' as found_by
    from context_critical
    group by template_key
    having count(*) > {{ var('max_context_critical') }}

),

not_said as (

    select
        context_critical.template_key,
        context_critical.option_key,
        'not_marked_context_critical' as found_by
    from context_critical
    inner join items
        on context_critical.template_key = items.template_key
        and context_critical.first_shown <= items.n_options
        and not items.context_critical

)

select * from in_record
union all
select * from like_answer
union all
select * from could_be_right
union all
select * from too_many
union all
select * from not_said
