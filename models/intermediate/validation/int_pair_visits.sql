{{ config(tags=['portable']) }}

with

visits as (

    select
        dim_visits.source,
        dim_visits.person_group,
        dim_visits.visit_key,
        visit_ids.visit_id
    from {{ ref('dim_visits') }} as dim_visits
    inner join {{ ref('int_visit_ids') }} as visit_ids
        on dim_visits.visit_key = visit_ids.visit_key

),

prognosis_pairs as (

    select * from {{ ref('int_prognosis_pairs') }}

),

pair_visits as (

    select
        source,
        'same_visit' as pair_window,
        person_group,
        visit_id as subject_visit_id,
        visit_id as object_visit_id
    from visits

    union all

    select
        subjects.source,
        'next_visit' as pair_window,
        subjects.person_group,
        subjects.visit_id as subject_visit_id,
        objects.visit_id as object_visit_id
    from prognosis_pairs
    inner join visits as subjects
        on prognosis_pairs.visit_key = subjects.visit_key
    inner join visits as objects
        on prognosis_pairs.target_visit_key = objects.visit_key

)

-- Whole millionths of a person, so that no order of adding can change a sum. A person's number is
-- that of the first visit, doubled, for next_visit one more: no two can be equal.
select
    source,
    pair_window,
    person_group,
    cast(
        2 * min(subject_visit_id) over (partition by source, pair_window, person_group)
        + case pair_window when 'next_visit' then 1 else 0 end as integer
    ) as person_number,
    subject_visit_id,
    object_visit_id,
    cast(floor(
        1000000.0 / count(*) over (partition by source, pair_window, person_group)
    ) as bigint) as visit_weight
from pair_visits
