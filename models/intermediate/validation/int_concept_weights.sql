{{ config(tags=['portable']) }}

with

pair_visits as (

    select * from {{ ref('int_pair_visits') }}

),

visit_concepts as (

    select * from {{ ref('int_visit_concepts') }}

),

sides as (

    select
        source,
        pair_window,
        'subject' as side,
        subject_visit_id as visit_id,
        visit_weight
    from pair_visits

    union all

    select
        source,
        pair_window,
        'object' as side,
        object_visit_id as visit_id,
        visit_weight
    from pair_visits

)

select
    sides.source,
    sides.pair_window,
    sides.side,
    visit_concepts.cui_id,
    cast(sum(sides.visit_weight) as bigint) as weight
from sides
inner join visit_concepts
    on sides.visit_id = visit_concepts.visit_id
group by
    sides.source,
    sides.pair_window,
    sides.side,
    visit_concepts.cui_id
