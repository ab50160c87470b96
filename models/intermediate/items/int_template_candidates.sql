-- One row per triple that the active policy accepts, with the first reason why it cannot be a
-- template (null when it can). Everything is decided from the triple alone: caps come later.
with

verdicts as (

    select * from {{ ref('fct_triple_verdicts') }}
    where policy = '{{ active_policy() }}'
        and verdict = 'accepted'

),

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

),

events as not materialized (

    select * from {{ ref('fct_visit_events') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

answer_events as (

    select * from {{ ref('int_answer_events') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

relatives as (

    select * from {{ ref('int_concept_relatives') }}

),

labels as (

    select * from {{ ref('int_option_labels') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

proposed_by_sql as (

    select distinct triple_id
    from triple_proposals
    where request_key is null
        and not ({{ for_tests_only('generator') }})

),

proposed_for_tests_only as (

    select triple_id
    from triple_proposals
    group by triple_id
    having count(*) = count(*) filter (where {{ for_tests_only('generator') }})

),

accepted as (

    select
        triples.*,
        visits.person_group,
        answer_events.eligible as is_answer_eligible,
        answer_events.reason as answer_reason,
        answer_events.event_type as answer_event_type,
        answer_events.cui_id as answer_cui_id,
        answers.code_system as answer_code_system,
        answers.normalized_code as answer_code,
        labels.option_key as answer_option_key,
        labels.label_words as answer_words,
        labels.semantic_group,
        proposed_by_sql.triple_id is null as needs_completion
    from verdicts
    inner join triples
        on verdicts.triple_id = triples.triple_id
    left join visits
        on triples.visit_key = visits.visit_key
    left join events as answers
        on triples.object_event_key = answers.event_key
    left join answer_events
        on triples.object_event_key = answer_events.event_key
    left join labels
        on answer_events.event_type = labels.event_type
        and answer_events.cui_id = labels.cui_id
    left join proposed_by_sql
        on triples.triple_id = proposed_by_sql.triple_id
    left join proposed_for_tests_only
        on triples.triple_id = proposed_for_tests_only.triple_id
    where proposed_for_tests_only.triple_id is null

),

scenario_events as (

    select
        accepted.triple_id,
        accepted.answer_cui_id,
        triple_events.role,
        events.event_key,
        {{ render_label('events.label') }} as label,
        coalesce(events.event_key = accepted.object_event_key, false) as is_answer_event,
        coalesce(
            events.event_type = 'diagnosis'
            and accepted.answer_event_type = 'diagnosis'
            and events.code_system = accepted.answer_code_system
            and {{ icd_category('events.code_system', 'events.normalized_code') }}
                = {{ icd_category('accepted.answer_code_system', 'accepted.answer_code') }}
        , false) as is_same_category,
        coalesce(
            contains({{ norm_label('events.label') }}, accepted.answer_words), false
        ) as names_answer
    from accepted
    inner join triple_events
        on accepted.triple_id = triple_events.triple_id
        and (
            triple_events.role = 'subject'
            or (
                triple_events.role = 'context'
                and triple_events.position <= {{ var('context_events') }}
            )
        )
    inner join events
        on triple_events.event_key = events.event_key

),

near_pairs as (

    select cui_id, relative_cui_id from relatives
    union
    select relative_cui_id as cui_id, cui_id as relative_cui_id from relatives

),

triples_near_answer as (

    select distinct scenario_events.triple_id
    from scenario_events
    inner join mappings
        on scenario_events.event_key = mappings.event_key
    left join near_pairs
        on mappings.cui_id = near_pairs.cui_id
        and scenario_events.answer_cui_id = near_pairs.relative_cui_id
    where mappings.cui_id = scenario_events.answer_cui_id
        or near_pairs.cui_id is not null

),

scenario_counted as (

    select
        triple_id,
        count(*) filter (where role = 'context') as n_context,
        count(*) as n_events,
        count(distinct {{ norm_label('label') }}) as n_labels,
        bool_or(is_answer_event or is_same_category) as holds_answer_code,
        bool_or(names_answer) as names_answer
    from scenario_events
    group by triple_id

),

decided as (

    select
        {{ key(['accepted.triple_id', "'template'"]) }} as template_key,
        accepted.triple_id,
        accepted.source,
        accepted.task,
        accepted.visit_key,
        accepted.target_visit_key,
        accepted.patient_key,
        accepted.person_group,
        accepted.subject_event_key,
        accepted.relation,
        accepted.object_event_key as answer_event_key,
        accepted.claim_key,
        accepted.subject_cui,
        accepted.answer_event_type,
        accepted.answer_cui_id,
        accepted.answer_option_key,
        accepted.semantic_group,
        accepted.needs_completion,
        case
            when accepted.is_answer_eligible is not true or accepted.answer_option_key is null
                then 'answer_not_eligible'
            when accepted.task = 'px' and accepted.is_newly_coded is not true
                then 'answer_not_newly_coded'
            when coalesce(scenario_counted.n_context, 0) < {{ var('context_events') }}
                then 'too_few_context_events'
            when scenario_counted.holds_answer_code or triples_near_answer.triple_id is not null
                then 'answer_in_scenario'
            when scenario_counted.names_answer then 'answer_named_in_scenario'
            when scenario_counted.n_labels < scenario_counted.n_events
                then 'repeated_scenario_label'
        end as reason,
        case
            when accepted.is_answer_eligible is not true or accepted.answer_option_key is null
                then coalesce(accepted.answer_reason, 'no_answer_event')
        end as reason_detail
    from accepted
    left join scenario_counted
        on accepted.triple_id = scenario_counted.triple_id
    left join triples_near_answer
        on accepted.triple_id = triples_near_answer.triple_id

)

select * from decided
