-- Every triple that some generator proposed, once. One row per triple_id.
with

proposals as (

    select * from {{ ref('int_extraction_proposals') }}

),

visits as (

    select
        visit_key,
        patient_key
    from {{ ref('dim_visits') }}

),

concepts as not materialized (

    select
        event_key,
        cui
    from {{ ref('brg_event_concepts') }}
    where rank = 1
        and cui is not null
        and mapping_level not in ('part', 'none')

),

newly_coded as (

    select
        visit_key,
        event_key
    from {{ ref('int_newly_coded_diagnoses') }}
    where is_newly_coded

),

distinct_triples as (

    select distinct
        source,
        task,
        visit_key,
        target_visit_key,
        subject_event_key,
        relation,
        object_event_key
    from proposals

),

triples as (

    select
        ---------- ids
        {{ key([
            'distinct_triples.source', 'distinct_triples.task', 'distinct_triples.visit_key',
            'distinct_triples.target_visit_key', 'distinct_triples.subject_event_key',
            'distinct_triples.relation', 'distinct_triples.object_event_key',
        ]) }} as triple_id,
        distinct_triples.source,
        distinct_triples.task,
        distinct_triples.visit_key,
        distinct_triples.target_visit_key,
        visits.patient_key,
        distinct_triples.subject_event_key,
        distinct_triples.relation,
        distinct_triples.object_event_key,
        ---------- concepts
        subject_concepts.cui as subject_cui,
        object_concepts.cui as object_cui,
        case
            when subject_concepts.cui is not null and object_concepts.cui is not null
                then {{ key([
                    'subject_concepts.cui', 'distinct_triples.relation', 'object_concepts.cui',
                ]) }}
        end as claim_key,
        ---------- booleans
        case
            when distinct_triples.task = 'px' then newly_coded.event_key is not null
        end as is_newly_coded
    from distinct_triples
    inner join visits
        on distinct_triples.visit_key = visits.visit_key
    left join concepts as subject_concepts
        on distinct_triples.subject_event_key = subject_concepts.event_key
    left join concepts as object_concepts
        on distinct_triples.object_event_key = object_concepts.event_key
    left join newly_coded
        on distinct_triples.target_visit_key = newly_coded.visit_key
        and distinct_triples.object_event_key = newly_coded.event_key

)

select * from triples
