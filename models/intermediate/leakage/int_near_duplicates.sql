-- One row per template x other template that asks nearly the same: the same fact (subject concept,
-- relation, answer concept) in one source, with a Jaccard index of the two sets of context concepts
-- of at least var near_duplicate_jaccard; or the same answer of one person, in whichever source,
-- with that index between all concepts shown, as what is subject and what is context may change
-- places where one stay is recorded twice. Only templates of one fact (max_templates_per_fact) or
-- one person (max_templates_per_patient) are compared, so that pairs grow with templates and not
-- with their square.
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

shown_concepts as (

    select distinct
        template_number,
        concept
    from shown

),

shown_counted as (

    select
        template_number,
        count(distinct concept) as n_shown,
        count(*) filter (where not is_subject) as n_context
    from shown
    group by template_number

),

facts as (

    select
        templates.template_number,
        templates.source,
        templates.person_group,
        templates.task,
        templates.relation,
        templates.answer_option_key,
        shown.concept as subject_concept,
        shown_counted.n_shown,
        shown_counted.n_context
    from templates
    inner join shown
        on templates.template_number = shown.template_number
        and shown.is_subject
    inner join shown_counted
        on templates.template_number = shown_counted.template_number

),

same_fact as (

    select
        one.template_number,
        other.template_number as other_number,
        one.n_context + other.n_context as n_both
    from facts as one
    inner join facts as other
        on one.source = other.source
        and one.task = other.task
        and one.relation = other.relation
        and one.answer_option_key = other.answer_option_key
        and one.subject_concept = other.subject_concept
        and one.template_number <> other.template_number

),

same_fact_compared as (

    select
        same_fact.template_number,
        same_fact.other_number,
        same_fact.n_both,
        count(others.concept) as n_shared
    from same_fact
    left join context as ones
        on same_fact.template_number = ones.template_number
    left join context as others
        on same_fact.other_number = others.template_number
        and ones.concept = others.concept
    group by all

),

same_person as (

    select
        one.template_number,
        other.template_number as other_number,
        one.n_shown + other.n_shown as n_both
    from facts as one
    inner join facts as other
        on one.person_group = other.person_group
        and one.task = other.task
        and one.answer_option_key = other.answer_option_key
        and one.template_number <> other.template_number

),

same_person_compared as (

    select
        same_person.template_number,
        same_person.other_number,
        same_person.n_both,
        count(others.concept) as n_shared
    from same_person
    inner join shown_concepts as ones
        on same_person.template_number = ones.template_number
    left join shown_concepts as others
        on same_person.other_number = others.template_number
        and ones.concept = others.concept
    group by all

),

near as (

    select template_number, other_number
    from same_fact_compared
    where n_shared >= {{ var('near_duplicate_jaccard') }} * (n_both - n_shared)

    union

    select template_number, other_number
    from same_person_compared
    where n_shared >= {{ var('near_duplicate_jaccard') }} * (n_both - n_shared)

),

final as (

    select
        one.template_key,
        other.template_key as other_key,
        one.person_group = other.person_group as is_one_person
    from near
    inner join templates as one
        on near.template_number = one.template_number
    inner join templates as other
        on near.other_number = other.template_number

)

select * from final
