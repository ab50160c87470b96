-- Distractors that could be right as well: the person has the concept in some visit of any source,
-- ordered or only administered, or one above or below it, or, for a diagnosis, a code of the same
-- ICD category or family in either version; the knowledge base supports it for a scenario event by
-- any source and any strength (equivalents for free, one end one level up or down); it is of one
-- drug class with the answer, or above or below it. A template may show var max_context_critical
-- distractors that the knowledge base supports and another event of the scenario rules out. The
-- walk through ICD is the draw's too; the test of released items has its own.
with

leak_options as (

    select * from {{ ref('int_leak_options') }}
    where not is_gold

),

forms as (

    select * from {{ ref('int_template_forms') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

mappings as not materialized (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

administrations as (

    select
        visit_key,
        {{ cui_id('normalized_code') }} as cui_id
    from {{ ref('int_administrations_mapped') }}

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}
    where relation in ('ancestor', 'descendant', 'equivalent')

),

category_concepts as (

    select * from {{ ref('int_person_category_concepts') }}

),

edge_roles as (

    select * from {{ ref('int_edge_roles') }}
    where role = 'support'

),

relations as (

    select * from {{ ref('relations') }}

),

drug_classes as (

    select * from {{ ref('int_drug_classes') }}

),

atc_kinds as (

    select * from {{ ref('atc_kinds') }}

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

{{ leak_form_options() }},

scenario_concepts as (

    select distinct
        forms.template_key,
        forms.task,
        scenario.event_key,
        scenario.event_key = forms.subject_event_key as is_subject,
        scenario.context_position <= {{ var('context_events') }} as is_at_every_size,
        mappings.cui_id
    from forms
    inner join scenario
        on forms.template_key = scenario.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key
    where exists (
        select 1 from options
        where options.template_key = forms.template_key
    )

),

concepts as (

    select cui_id from scenario_concepts
    union
    select cui_id from options

),

-- A step up or down counts one, an equivalent none; where both lead to one concept, none.
links as (

    select
        cui_id,
        relative_cui_id,
        case when relation = 'equivalent' then 0 else 1 end as steps
    from relatives

    union all

    select
        relative_cui_id as cui_id,
        cui_id as relative_cui_id,
        case when relation = 'equivalent' then 0 else 1 end as steps
    from relatives

),

near as (

    select
        cui_id,
        near_cui_id,
        min(steps) as steps
    from (
        select
            cui_id,
            cui_id as near_cui_id,
            0 as steps
        from concepts

        union all

        select
            concepts.cui_id,
            links.relative_cui_id as near_cui_id,
            links.steps
        from concepts
        inner join links
            on concepts.cui_id = links.cui_id
    )
    group by
        cui_id,
        near_cui_id

),

---------- in the record

persons as (

    select distinct
        person_group,
        cui_id
    from options

),

record_visits as (

    select
        visits.person_group,
        visits.visit_key
    from visits
    semi join persons
        on visits.person_group = persons.person_group

),

record_concepts as (

    select
        record_visits.person_group,
        mappings.cui_id
    from record_visits
    inner join events
        on record_visits.visit_key = events.visit_key
    inner join mappings
        on events.event_key = mappings.event_key

    union

    select
        record_visits.person_group,
        administrations.cui_id
    from record_visits
    inner join administrations
        on record_visits.visit_key = administrations.visit_key
    where administrations.cui_id is not null

),

-- From the option to its equivalents, then up or down, then to the equivalents of what is there.
options_same as (

    select
        near.cui_id,
        near.near_cui_id as reached_cui_id
    from near
    semi join options
        on near.cui_id = options.cui_id
    where near.steps = 0

),

options_moved as (

    select * from options_same

    union

    select
        options_same.cui_id,
        links.relative_cui_id as reached_cui_id
    from options_same
    inner join links
        on options_same.reached_cui_id = links.cui_id

),

options_reach as (

    select * from options_moved

    union

    select
        options_moved.cui_id,
        links.relative_cui_id as reached_cui_id
    from options_moved
    inner join links
        on options_moved.reached_cui_id = links.cui_id
        and links.steps = 0

),

in_record as (

    select
        persons.person_group,
        persons.cui_id,
        {{ cui_text('record_concepts.cui_id') }} as recorded
    from persons
    inner join options_reach
        on persons.cui_id = options_reach.cui_id
    inner join record_concepts
        on persons.person_group = record_concepts.person_group
        and options_reach.reached_cui_id = record_concepts.cui_id

    union

    select
        persons.person_group,
        persons.cui_id,
        category_concepts.category as recorded
    from persons
    inner join category_concepts
        on persons.person_group = category_concepts.person_group
        and persons.cui_id = category_concepts.cui_id

),

---------- supported for a scenario event

pairs as (

    select distinct
        scenario_concepts.task,
        scenario_concepts.cui_id as scenario_cui_id,
        options.cui_id
    from options
    inner join scenario_concepts
        on options.template_key = scenario_concepts.template_key

),

stated as (

    select
        relations.task,
        edge_roles.subject_cui_id,
        edge_roles.object_cui_id,
        min(concat(edge_roles.predicate_or_rela, ' (', edge_roles.kb, ')')) as statement
    from edge_roles
    inner join relations
        on edge_roles.relation = relations.relation
    group by
        relations.task,
        edge_roles.subject_cui_id,
        edge_roles.object_cui_id

),

pairs_supported as (

    select
        pairs.task,
        pairs.scenario_cui_id,
        pairs.cui_id,
        min(stated.statement) as statement
    from pairs
    inner join near as scenario_near
        on pairs.scenario_cui_id = scenario_near.cui_id
    inner join near as option_near
        on pairs.cui_id = option_near.cui_id
        and scenario_near.steps + option_near.steps <= 1
    inner join stated
        on pairs.task = stated.task
        and scenario_near.near_cui_id = stated.subject_cui_id
        and option_near.near_cui_id = stated.object_cui_id
    group by
        pairs.task,
        pairs.scenario_cui_id,
        pairs.cui_id

),

supported as (

    select
        options.template_key,
        options.option_key,
        options.rank,
        scenario_concepts.event_key,
        min(concat(pairs_supported.statement, ' for ',
            {{ cui_text('pairs_supported.scenario_cui_id') }})) as statement
    from options
    inner join scenario_concepts
        on options.template_key = scenario_concepts.template_key
    inner join pairs_supported
        on scenario_concepts.task = pairs_supported.task
        and scenario_concepts.cui_id = pairs_supported.scenario_cui_id
        and options.cui_id = pairs_supported.cui_id
    group by
        options.template_key,
        options.option_key,
        options.rank,
        scenario_concepts.event_key

),

---------- ruled out by another event

supported_options as (

    select
        template_key,
        option_key,
        rank,
        min(statement) as statement
    from supported
    group by
        template_key,
        option_key,
        rank

),

harmful_pairs as (

    select
        curated_edges.subject_cui_id as cui_id,
        curated_edges.object_cui_id as other_cui_id
    from curated_edges
    inner join conflict_predicates
        on curated_edges.rela = conflict_predicates.predicate_or_rela

    union

    select
        cui_id,
        other_cui_id
    from interactions

),

-- By what is shown at every size of the context: a wide form stands for the sizes before it.
ruled_out as (

    select distinct
        options.template_key,
        options.option_key,
        scenario_concepts.event_key
    from options
    inner join supported_options
        on options.template_key = supported_options.template_key
        and options.option_key = supported_options.option_key
    inner join scenario_concepts
        on options.template_key = scenario_concepts.template_key
        and not scenario_concepts.is_subject
        and scenario_concepts.is_at_every_size
    inner join harmful_pairs
        on options.cui_id = harmful_pairs.cui_id
        and scenario_concepts.cui_id = harmful_pairs.other_cui_id

),

-- What is said to help in the very event that rules it out proves nothing.
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

supported_judged as (

    select
        supported_options.*,
        proven_wrong.option_key is not null as is_proven_wrong,
        row_number() over (
            partition by supported_options.template_key, proven_wrong.option_key is not null
            order by supported_options.rank
        ) as place
    from supported_options
    left join proven_wrong
        on supported_options.template_key = proven_wrong.template_key
        and supported_options.option_key = proven_wrong.option_key

),

---------- like the answer

answer_pairs as (

    select distinct
        forms.answer_cui_id,
        options.cui_id
    from options
    inner join forms
        on options.template_key = forms.template_key

),

classes as (

    select
        drug_classes.cui_id,
        drug_classes.atc_code
    from drug_classes
    left join atc_kinds
        on drug_classes.atc_code = atc_kinds.atc_code
    where drug_classes.level = {{ var('class_relative_level') }}
        or atc_kinds.atc_code is not null

),

like_answer as (

    select
        answer_pairs.answer_cui_id,
        answer_pairs.cui_id,
        concat('class of the answer: ', answer_classes.atc_code) as likeness
    from answer_pairs
    inner join classes as answer_classes
        on answer_pairs.answer_cui_id = answer_classes.cui_id
    inner join classes as option_classes
        on answer_pairs.cui_id = option_classes.cui_id
        and answer_classes.atc_code = option_classes.atc_code

    union

    select
        answer_pairs.answer_cui_id,
        answer_pairs.cui_id,
        'above, below or equal to the answer' as likeness
    from answer_pairs
    inner join near
        on answer_pairs.cui_id = near.cui_id
        and answer_pairs.answer_cui_id = near.near_cui_id

),

united as (

    select
        options.template_key,
        options.option_key,
        concat('in the record: ', in_record.recorded) as evidence
    from options
    inner join in_record
        on options.person_group = in_record.person_group
        and options.cui_id = in_record.cui_id

    union all

    select
        template_key,
        option_key,
        concat('supported: ', statement) as evidence
    from supported_judged
    where not is_proven_wrong

    union all

    select
        template_key,
        option_key,
        concat('one too many that only the context rules out: ', statement) as evidence
    from supported_judged
    where is_proven_wrong
        and place > {{ var('max_context_critical') }}

    union all

    select
        options.template_key,
        options.option_key,
        like_answer.likeness as evidence
    from options
    inner join forms
        on options.template_key = forms.template_key
    inner join like_answer
        on forms.answer_cui_id = like_answer.answer_cui_id
        and options.cui_id = like_answer.cui_id

),

found as (

    select
        'L24' as rule_id,
        'option' as scope,
        template_key,
        cast(null as varchar) as item_id,
        option_key,
        min(evidence) as evidence
    from united
    group by
        template_key,
        option_key

)

select * from found
