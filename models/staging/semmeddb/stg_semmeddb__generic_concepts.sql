{{ config(tags=['portable']) }}

with

raw_generic_concept as (

    select * from {{ raw('semmeddb', 'generic_concept') }}

),

renamed as (

    select
        ---------- ids
        cui,

        ---------- strings
        preferred_name
    from raw_generic_concept

)

select * from renamed
