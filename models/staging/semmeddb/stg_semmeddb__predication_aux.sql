{{ config(tags=['portable']) }}

with

raw_predication_aux as (

    select * from {{ raw('semmeddb', 'predication_aux') }}

),

renamed as (

    select
        ---------- ids
        try_cast(predication_aux_id as bigint) as predication_aux_id,
        try_cast(predication_id as bigint) as predication_id,

        ---------- strings
        indicator_type,

        ---------- where it came from
        {{ semmeddb_row() }} as source_row,
        _problem as line_problem
    from raw_predication_aux

)

select * from renamed
