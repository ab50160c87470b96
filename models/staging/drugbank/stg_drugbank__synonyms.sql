with

raw_synonyms as (

    select * from {{ raw('drugbank', 'synonyms') }}

),

renamed as (

    select
        ---------- ids
        drugbank_id,

        ---------- strings
        synonym,
        language
    from raw_synonyms

)

select * from renamed
