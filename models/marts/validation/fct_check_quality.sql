with

triple_checks as (

    select * from {{ ref('fct_triple_checks') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

triple_claims as (

    select * from {{ ref('int_triple_claims') }}

),

triple_contexts as (

    select * from {{ ref('int_triple_contexts') }}

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

validation_checks as (

    select * from {{ ref('validation_checks') }}

),

truth_claims as (

    select * from {{ ref('stg_truth__claims') }}

),

truth_conflicts as (

    select * from {{ ref('stg_truth__conflicts') }}

),

truth_codes as (

    select * from {{ ref('stg_truth__codes') }}

),

own_concepts as (

    select
        event_key,
        cui
    from event_concepts
    where cui_id is not null
        and mapping_level not in ('part', 'none')

),

donor_truth as (

    select
        triple_id,
        max(case when generator = '{{ var("null_generator") }}' then 1 else 0 end) as is_true
    from triple_proposals
    group by triple_id

),

claim_truth as (

    select
        triple_claims.triple_id,
        max(coalesce(truth_claims.supported, 0)) as is_supported,
        max(coalesce(truth_claims.contradicted, 0)) as is_contradicted,
        max(coalesce(truth_claims.ambiguous, 0)) as is_ambiguous
    from triple_claims
    left join truth_claims
        on {{ cui_text('triple_claims.subject_cui_id') }} = truth_claims.subject_cui
        and triple_claims.relation = truth_claims.relation
        and {{ cui_text('triple_claims.object_cui_id') }} = truth_claims.object_cui
    group by triple_claims.triple_id

),

-- What a code or an order text should reach.
code_truth as (

    select
        code_system,
        trim(code) as code,
        max(case when level <> 'none' then cui end) as cui
    from truth_codes
    group by
        code_system,
        trim(code)

),

-- A drug is judged by its order text: its code is the concept that the mapping chose, so that a
-- wrong one would confirm itself. Of several texts the event keeps one.
coded_events as (

    select
        event_key,
        case when event_type = 'medication' then 'DRUG_TEXT' else code_system end as code_system,
        case when event_type = 'medication' then trim(source_code) else normalized_code end
            as code
    from visit_events

),

-- A text that its NDC alone can explain should still reach its concept: where the order has no
-- NDC, it is a miss.
event_truth as (

    select
        coded_events.event_key,
        max(
            case
                when code_truth.cui is null then 0
                when own_concepts.event_key is null then 1
                when own_concepts.cui = code_truth.cui then 1
                else 0
            end
        ) as should_map
    from coded_events
    left join code_truth
        on coded_events.code_system = code_truth.code_system
        and coded_events.code = code_truth.code
    left join own_concepts
        on coded_events.event_key = own_concepts.event_key
    group by coded_events.event_key

),

mapping_truth as (

    select
        triples.triple_id,
        case
            when subjects.should_map = 1 and objects.should_map = 1 then 1
            else 0
        end as is_true
    from triples
    left join event_truth as subjects
        on triples.subject_event_key = subjects.event_key
    left join event_truth as objects
        on triples.object_event_key = objects.event_key

),

concept_conflicts as (

    select distinct triple_contexts.triple_id
    from triple_contexts
    inner join own_concepts as contexts
        on triple_contexts.context_event_key = contexts.event_key
    inner join own_concepts as answers
        on triple_contexts.object_event_key = answers.event_key
    inner join truth_conflicts
        on contexts.cui = truth_conflicts.context_cui
        and answers.cui = truth_conflicts.answer_cui
    where truth_conflicts.rule <> 'excludes1'

),

code_conflicts as (

    select distinct triple_contexts.triple_id
    from triple_contexts
    inner join visit_events as contexts
        on triple_contexts.context_event_key = contexts.event_key
    inner join visit_events as answers
        on triple_contexts.object_event_key = answers.event_key
    inner join truth_conflicts
        on contexts.code_system = truth_conflicts.context_code_system
        and contexts.normalized_code = truth_conflicts.context_code
        and answers.code_system = truth_conflicts.answer_code_system
        and answers.normalized_code = truth_conflicts.answer_code
    where truth_conflicts.rule = 'excludes1'

),

conflict_truth as (

    select triple_id from concept_conflicts
    union
    select triple_id from code_conflicts

),

judged as (

    select
        triple_checks.check_name,
        case when triple_checks.status = validation_checks.detects_by then 1 else 0 end
            as is_detected,
        case triple_checks.check_name
            when 'grounded' then coalesce(donor_truth.is_true, 0)
            when 'mapped' then coalesce(mapping_truth.is_true, 0)
            when 'positive_support' then coalesce(claim_truth.is_supported, 0)
            when 'unambiguous_relation' then coalesce(claim_truth.is_ambiguous, 0)
            when 'no_negative_evidence' then coalesce(claim_truth.is_contradicted, 0)
            when 'no_context_conflict'
                then case when conflict_truth.triple_id is not null then 1 else 0 end
        end as is_true
    from triple_checks
    inner join validation_checks
        on triple_checks.check_name = validation_checks.check_name
    left join donor_truth
        on triple_checks.triple_id = donor_truth.triple_id
    left join mapping_truth
        on triple_checks.triple_id = mapping_truth.triple_id
    left join claim_truth
        on triple_checks.triple_id = claim_truth.triple_id
    left join conflict_truth
        on triple_checks.triple_id = conflict_truth.triple_id
    where triple_checks.status <> 'not_assessed'
        and exists (select 1 from truth_claims)

),

counted as (

    select
        check_name,
        sum(case when is_detected = 1 and is_true = 1 then 1 else 0 end) as n_true_pos,
        sum(case when is_detected = 1 and is_true = 0 then 1 else 0 end) as n_false_pos,
        sum(case when is_detected = 0 and is_true = 1 then 1 else 0 end) as n_false_neg,
        sum(case when is_detected = 0 and is_true = 0 then 1 else 0 end) as n_true_neg
    from judged
    group by check_name

)

select
    counted.check_name,
    validation_checks.detects,
    cast(counted.n_true_pos as bigint) as n_true_pos,
    cast(counted.n_false_pos as bigint) as n_false_pos,
    cast(counted.n_false_neg as bigint) as n_false_neg,
    cast(counted.n_true_neg as bigint) as n_true_neg,
    {{ share('counted.n_true_pos', 'counted.n_true_pos + counted.n_false_pos') }}
        as precision,
    {{ share('counted.n_true_pos', 'counted.n_true_pos + counted.n_false_neg') }}
        as recall
from counted
inner join validation_checks
    on counted.check_name = validation_checks.check_name
