{{ config(tags=['portable']) }}

with

raw_sentence as (

    select * from {{ raw('semmeddb', 'sentence') }}

),

renamed as (

    select
        ---------- ids
        try_cast(sentence_id as bigint) as sentence_id,
        pmid,

        ---------- strings
        sentence
    from raw_sentence

)

select * from renamed
