with

raw_articles as (

    select * from {{ raw('pubmed', 'articles') }}

),

renamed as (

    select
        ---------- ids
        cast(pmid as varchar) as pmid,

        ---------- strings
        title,

        ---------- numbers
        try_cast(pub_year as integer) as pub_year,

        ---------- where it came from
        _file as source_file,
        cast(_row as bigint) as source_row
    from raw_articles

)

select * from renamed
