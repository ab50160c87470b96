{{ config(tags=['portable']) }}

with

check_index as (

    select * from {{ ref('int_check_index') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

event_concepts as (

    select * from {{ ref('brg_event_concepts') }}

),

mapped_events as (

    select distinct event_key
    from event_concepts
    where cui_id is not null
        and mapping_level not in ('part', 'none')

),

ends as (

    select
        triples.triple_id,
        subjects.event_key is not null as is_subject_mapped,
        objects.event_key is not null as is_object_mapped
    from triples
    left join mapped_events as subjects
        on triples.subject_event_key = subjects.event_key
    left join mapped_events as objects
        on triples.object_event_key = objects.event_key

)

select
    check_index.triple_id,
    check_index.check_name,
    case when ends.is_subject_mapped and ends.is_object_mapped then 'pass' else 'fail' end
        as status,
    case
        when ends.is_subject_mapped and ends.is_object_mapped then null
        when ends.is_object_mapped then 'unmapped_subject'
        when ends.is_subject_mapped then 'unmapped_object'
        else 'unmapped_both'
    end as reason_code,
    cast(null as integer) as n_supporting_pmids,
    cast(null as integer) as n_supporting_curated,
    cast(null as integer) as n_contradicting_pmids
from check_index
inner join ends
    on check_index.triple_id = ends.triple_id
where check_index.check_name = 'mapped'
