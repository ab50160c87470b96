{{ config(tags=['portable']) }}

with

raw_citations as (

    select * from {{ raw('semmeddb', 'citations') }}

),

renamed as (

    select
        ---------- ids
        pmid,

        ---------- strings
        dp as date_printed,
        edat as entry_date,

        ---------- numbers
        try_cast(pyear as integer) as pyear,

        ---------- where it came from
        {{ semmeddb_row() }} as source_row,
        _problem as line_problem
    from raw_citations

)

select * from renamed
