{{ config(materialized='view', tags=['portable']) }}

with

validation_checks as (

    select * from {{ ref('validation_checks') }}
    where check_name = 'mapped'

),

triple_counts as (

    select * from {{ ref('int_triple_counts') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

-- A triple with a claim has a concept at both ends; only the others are looked at more closely.
unclaimed as (

    select
        triples.triple_id,
        triples.subject_event_key,
        triples.object_event_key
    from triples
    inner join triple_counts
        on triples.triple_id = triple_counts.triple_id
    where triple_counts.n_claims = 0

),

unclaimed_events as (

    select subject_event_key as event_key from unclaimed
    union
    select object_event_key as event_key from unclaimed

),

mapped_events as (

    select distinct event_concepts.event_key
    from event_concepts
    inner join unclaimed_events
        on event_concepts.event_key = unclaimed_events.event_key
    where event_concepts.cui_id is not null
        and event_concepts.mapping_level not in ('part', 'none')

),

unmapped as (

    select
        unclaimed.triple_id,
        case
            when objects.event_key is not null then 'unmapped_subject'
            when subjects.event_key is not null then 'unmapped_object'
            else 'unmapped_both'
        end as reason_code
    from unclaimed
    left join mapped_events as subjects
        on unclaimed.subject_event_key = subjects.event_key
    left join mapped_events as objects
        on unclaimed.object_event_key = objects.event_key

)

select
    triple_counts.triple_id,
    validation_checks.check_name,
    case when unmapped.triple_id is null then 'pass' else 'fail' end as status,
    unmapped.reason_code,
    cast(null as integer) as n_supporting_pmids,
    cast(null as integer) as n_supporting_curated,
    cast(null as integer) as n_contradicting_pmids
from triple_counts
cross join validation_checks
left join unmapped
    on triple_counts.triple_id = unmapped.triple_id
