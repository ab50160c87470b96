{{ config(tags=['portable']) }}

with

check_index as (

    select * from {{ ref('int_check_index') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

),

triple_proposals as (

    select * from {{ ref('fct_triple_proposals') }}

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

-- The object of a prognosis belongs to the target visit, everything else to the visit itself.
ungrounded_ends as (

    select triples.triple_id
    from triples
    left join visit_events as subjects
        on triples.subject_event_key = subjects.event_key
    left join visit_events as objects
        on triples.object_event_key = objects.event_key
    where subjects.visit_key is distinct from triples.visit_key
        or objects.visit_key is distinct from coalesce(triples.target_visit_key, triples.visit_key)

),

ungrounded_contexts as (

    select triple_events.triple_id
    from triple_events
    inner join triples
        on triple_events.triple_id = triples.triple_id
    left join visit_events
        on triple_events.event_key = visit_events.event_key
    where triple_events.role = 'context'
        and visit_events.visit_key is distinct from triples.visit_key

),

ungrounded as (

    select triple_id from ungrounded_ends
    union
    select triple_id from ungrounded_contexts

),

donor_triples as (

    select distinct triple_id
    from triple_proposals
    where generator = '{{ var("null_generator") }}'

)

select
    check_index.triple_id,
    check_index.check_name,
    case when ungrounded.triple_id is null then 'pass' else 'fail' end as status,
    case
        when ungrounded.triple_id is null then null
        when donor_triples.triple_id is not null then 'shuffled_donor'
        else 'not_grounded'
    end as reason_code,
    cast(null as integer) as n_supporting_pmids,
    cast(null as integer) as n_supporting_curated,
    cast(null as integer) as n_contradicting_pmids
from check_index
left join ungrounded
    on check_index.triple_id = ungrounded.triple_id
left join donor_triples
    on check_index.triple_id = donor_triples.triple_id
where check_index.check_name = 'grounded'
