-- One row per visit that is a stay recorded in more than one visit: visits of one person that
-- overlap in time, as those of a source and of another made from it. Other visits are a stay alone.
with

visits as (

    select * from {{ ref('dim_visits') }}

),

-- Visits of one source are merged already, so only persons of several sources are looked at.
persons as (

    select person_group
    from visits
    group by person_group
    having count(distinct source) > 1

),

spans as (

    select
        visits.visit_key,
        visits.person_group,
        visits.admitted_at,
        greatest(
            visits.admitted_at, coalesce(visits.discharged_at, visits.admitted_at)
        ) as ended_at
    from visits
    semi join persons
        on visits.person_group = persons.person_group
    where visits.admitted_at is not null

),

reached as (

    select
        *,
        max(ended_at) over (
            partition by person_group
            order by admitted_at, visit_key
            rows between unbounded preceding and 1 preceding
        ) as reached_at
    from spans

),

numbered as (

    select
        *,
        sum(case when admitted_at <= reached_at then 0 else 1 end) over (
            partition by person_group
            order by admitted_at, visit_key
            rows between unbounded preceding and current row
        ) as stay_number
    from reached

),

stays as (

    select
        visit_key,
        min(visit_key) over (partition by person_group, stay_number) as stay_key,
        count(*) over (partition by person_group, stay_number) as n_visits
    from numbered

)

select
    visit_key,
    stay_key
from stays
where n_visits > 1
