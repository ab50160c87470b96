with

raw_vocabulary as (

    select * from {{ raw('drugbank', 'vocabulary') }}

),

renamed as (

    select
        ---------- ids
        drugbank_id,

        ---------- strings
        name,
        cas_number,
        unii,
        synonyms,

        ---------- where it came from
        _file as source_file,
        cast(_row as bigint) as source_row
    from raw_vocabulary

)

select * from renamed
