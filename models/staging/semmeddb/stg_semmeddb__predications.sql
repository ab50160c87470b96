{{ config(tags=['portable']) }}

with

raw_predication as (

    select * from {{ raw('semmeddb', 'predication') }}

),

renamed as (

    select
        ---------- ids
        try_cast(predication_id as bigint) as predication_id,
        try_cast(sentence_id as bigint) as sentence_id,
        pmid,
        -- Integers and names are made once, here: every build reads them many times.
        {{ first_cui_id('subject_cui') }} as subject_cui_id,
        {{ first_cui_id('object_cui') }} as object_cui_id,

        ---------- strings
        upper(trim(split_part(predicate, '(', 1))) as predicate_name,
        subject_cui,
        object_cui,

        ---------- numbers
        try_cast(subject_novelty as integer) as subject_novelty,
        try_cast(object_novelty as integer) as object_novelty,

        ---------- where it came from
        {{ semmeddb_row() }} as source_row,
        _problem as line_problem
    from raw_predication

)

select * from renamed
