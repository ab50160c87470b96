-- Templates whose fact (subject concept, relation, answer concept) another template of the source
-- asks in nearly the same context: the Jaccard index of the two sets of context concepts reaches
-- var near_duplicate_jaccard. Only templates of one answer are compared, of which there are at most
-- max_templates_per_answer, so that pairs grow with templates and not with their square.
with

templates as (

    select * from {{ ref('int_templates') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}

),

first_concepts as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where rank = 1
        and cui_id is not null

),

-- An event without a concept stands for its code.
shown as (

    select distinct
        templates.template_number,
        scenario.event_key = templates.subject_event_key as is_subject,
        case
            when first_concepts.cui_id is not null then {{ cui_text('first_concepts.cui_id') }}
            else concat(events.code_system, ' ', events.normalized_code)
        end as concept
    from scenario
    inner join templates
        on scenario.template_key = templates.template_key
    inner join events
        on scenario.event_key = events.event_key
    left join first_concepts
        on scenario.event_key = first_concepts.event_key

),

context as (

    select
        template_number,
        concept
    from shown
    where not is_subject

),

context_counted as (

    select
        template_number,
        count(*) as n_concepts
    from context
    group by template_number

),

facts as (

    select
        templates.template_number,
        templates.template_key,
        templates.source,
        templates.task,
        templates.relation,
        templates.answer_option_key,
        shown.concept as subject_concept,
        coalesce(context_counted.n_concepts, 0) as n_concepts
    from templates
    inner join shown
        on templates.template_number = shown.template_number
        and shown.is_subject
    left join context_counted
        on templates.template_number = context_counted.template_number

),

same_fact as (

    select
        one.template_number,
        other.template_number as other_number,
        one.n_concepts,
        other.n_concepts as other_concepts
    from facts as one
    inner join facts as other
        on one.source = other.source
        and one.task = other.task
        and one.relation = other.relation
        and one.answer_option_key = other.answer_option_key
        and one.subject_concept = other.subject_concept
        and one.template_number <> other.template_number

),

compared as (

    select
        same_fact.template_number,
        same_fact.other_number,
        same_fact.n_concepts + same_fact.other_concepts as n_both,
        count(others.concept) as n_shared
    from same_fact
    left join context as ones
        on same_fact.template_number = ones.template_number
    left join context as others
        on same_fact.other_number = others.template_number
        and ones.concept = others.concept
    group by all

),

counted as (

    select
        template_number,
        count(*) as n_same_fact,
        count(*) filter (
            where n_shared >= {{ var('near_duplicate_jaccard') }} * (n_both - n_shared)
        ) as n_near
    from compared
    group by template_number

),

found as (

    select
        facts.template_key,
        concat(
            counted.n_near, ' near duplicates among ', counted.n_same_fact,
            ' other templates of the fact'
        ) as evidence
    from counted
    inner join facts
        on counted.template_number = facts.template_number
    where counted.n_near > 0

)

select
    'L26' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from found
