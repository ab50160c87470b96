with

source as (

    select * from {{ raw('completions', 'audit_ratings') }}

),

renamed as (

    select
        ---------- ids
        _row as source_row,
        -- One person may write a name in several ways.
        lower(trim(regexp_replace(rater, '[\s\p{Z}]+', ' ', 'g'))) as rater,
        trim(triple_id) as triple_id,

        ---------- strings
        comment,

        ---------- booleans
        try_cast(trim(is_right) as boolean) as is_right,
        coalesce(lower(trim(is_right)) = 'unsure', false) as is_unsure
    from source

)

select * from renamed
