-- The same stay in two sources is one stay: sources made from another one that is there.
with

patients as (

    select distinct source
    from {{ ref('dim_patients') }}

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

copied as (

    select patients.source
    from patients
    inner join source_overlaps
        on patients.source = source_overlaps.source
    inner join patients as origins
        on source_overlaps.derived_from = origins.source

)

select * from copied
