{{ config(tags=['portable']) }}

with

-- Numbered by parts, since one number over all visits would be one task of Spark. The parts are
-- beginnings of the keys, so that the order is that of the keys.
visits as (

    select
        visit_key,
        substr(visit_key, 1, 2) as part
    from {{ ref('dim_visits') }}

),

part_sizes as (

    select
        part,
        count(*) as n_visits
    from visits
    group by part

),

part_starts as (

    select
        part,
        sum(n_visits) over (order by part) - n_visits as n_before
    from part_sizes

)

select
    visits.visit_key,
    cast(
        part_starts.n_before + row_number() over (
            partition by visits.part
            order by visits.visit_key
        ) as integer
    ) as visit_id
from visits
inner join part_starts
    on visits.part = part_starts.part
