-- No context event is the subject or the object, a status code, shares a concept or an ICD category
-- with the object, or is a relative of it; in tx it is no hindsight code either.
with

triples as (

    select * from {{ ref('fct_triples') }}

),

context_events as (

    select * from {{ ref('fct_triple_events') }} where role = 'context'

),

events as (

    select
        event_key,
        is_status_code,
        is_hindsight,
        case
            when event_type = 'diagnosis'
                then concat(
                    code_system, ':', {{ icd_category('code_system', 'normalized_code') }}
                )
        end as icd_category
    from {{ ref('fct_visit_events') }}

),

event_concepts as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null and mapping_level not in ('part', 'none')

),

relatives as (

    select
        cui_id,
        relative_cui_id
    from {{ ref('int_concept_relatives') }}

),

pairs as (

    select
        triples.triple_id,
        triples.task,
        triples.subject_event_key,
        triples.object_event_key,
        context_events.event_key
    from triples
    inner join context_events
        on triples.triple_id = context_events.triple_id

),

told_by_code as (

    select
        pairs.triple_id,
        pairs.event_key,
        'code' as problem
    from pairs
    inner join events
        on pairs.event_key = events.event_key
    left join events as object_events
        on pairs.object_event_key = object_events.event_key
    where pairs.event_key in (pairs.subject_event_key, pairs.object_event_key)
        or coalesce(events.is_status_code, false)
        or (pairs.task = 'tx' and coalesce(events.is_hindsight, false))
        or events.icd_category = object_events.icd_category

),

told_by_concept as (

    select
        pairs.triple_id,
        pairs.event_key,
        'concept' as problem
    from pairs
    inner join event_concepts
        on pairs.event_key = event_concepts.event_key
    inner join event_concepts as object_concepts
        on pairs.object_event_key = object_concepts.event_key
    left join relatives
        on object_concepts.cui_id = relatives.cui_id
        and event_concepts.cui_id = relatives.relative_cui_id
    where event_concepts.cui_id = object_concepts.cui_id
        or relatives.cui_id is not null

)

select * from told_by_code
union all
select * from told_by_concept
