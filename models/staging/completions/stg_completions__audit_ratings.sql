with

source as (

    select * from {{ raw('completions', 'audit_ratings') }}

),

renamed as (

    select
        ---------- ids
        _row as source_row,
        trim(rater) as rater,
        trim(triple_id) as triple_id,

        ---------- strings
        comment,

        ---------- booleans
        try_cast(trim(is_right) as boolean) as is_right,
        try_cast(trim(is_unique) as boolean) as is_unique,
        try_cast(trim(has_other_right) as boolean) as has_other_right,
        try_cast(trim(is_answerable) as boolean) as is_answerable,
        try_cast(trim(has_leak) as boolean) as has_leak
    from source

)

select * from renamed
