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
        preferred_name,

        ---------- where it came from
        {{ semmeddb_row() }} as source_row,
        _problem as line_problem
    from raw_generic_concept

)

select * from renamed
