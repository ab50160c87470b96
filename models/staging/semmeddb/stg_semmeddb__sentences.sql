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
        sentence,
        type as sentence_type,
        coalesce(normalized_section_header, section_header) as section,

        ---------- where it came from
        {{ semmeddb_row() }} as source_row,
        _problem as line_problem
    from raw_sentence

)

select * from renamed
