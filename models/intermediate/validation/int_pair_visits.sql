{{ config(tags=['portable']) }}

with

visits as (

    select * from {{ ref('dim_visits') }}

),

prognosis_pairs as (

    select * from {{ ref('int_prognosis_pairs') }}

),

pair_visits as (

    select
        source,
        'same_visit' as pair_window,
        person_group,
        visit_key as subject_visit_key,
        visit_key as object_visit_key
    from visits

    union all

    select
        visits.source,
        'next_visit' as pair_window,
        visits.person_group,
        prognosis_pairs.visit_key as subject_visit_key,
        prognosis_pairs.target_visit_key as object_visit_key
    from prognosis_pairs
    inner join visits
        on prognosis_pairs.visit_key = visits.visit_key

)

-- Whole millionths of a person, so that no order of adding can change a sum.
select
    source,
    pair_window,
    person_group,
    subject_visit_key,
    object_visit_key,
    cast(floor(
        1000000.0 / count(*) over (partition by source, pair_window, person_group)
    ) as bigint) as visit_weight
from pair_visits
