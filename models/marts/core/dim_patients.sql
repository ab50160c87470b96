with

patients as (

    select * from {{ ref('int_source_patients') }}
    where set_aside_reason is null

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

visits as (

    select
        patient_key,
        cast(count(*) as integer) as n_visits
    from {{ ref('int_visits_ordered') }}
    group by patient_key

),

keyed as (

    select
        {{ key(['patients.source', 'patients.patient_id']) }} as patient_key,
        patients.source,
        {{ key(["coalesce(source_overlaps.person_family, patients.source)",
            'patients.person_id']) }} as person_group,
        patients.sex,
        patients.birth_year
    from patients
    left join source_overlaps
        on patients.source = source_overlaps.source

)

select
    keyed.patient_key,
    keyed.source,
    keyed.person_group,
    keyed.sex,
    cast(keyed.birth_year as integer) as birth_year,
    coalesce(visits.n_visits, 0) as n_visits
from keyed
left join visits
    on keyed.patient_key = visits.patient_key
