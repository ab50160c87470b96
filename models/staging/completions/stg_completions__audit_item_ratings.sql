with

source as (

    select * from {{ raw('completions', 'audit_item_ratings') }}

),

renamed as (

    select
        ---------- ids
        _row as source_row,
        -- One person may write a name in several ways.
        lower(trim(regexp_replace(rater, '[\s\p{Z}]+', ' ', 'g'))) as rater,
        trim(item_id) as item_id,

        ---------- strings
        lower(trim(best_letter)) as best_letter,
        comment,

        ---------- booleans
        try_cast(trim(is_unique) as boolean) as is_unique,
        try_cast(trim(has_other_right) as boolean) as has_other_right,
        try_cast(trim(is_answerable) as boolean) as is_answerable,
        try_cast(trim(has_leak) as boolean) as has_leak
    from source

)

select * from renamed
