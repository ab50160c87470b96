-- One row per kept item: whether it may be released, and the reason when it may not. Every
-- candidate is released as long as no leak rule says otherwise.
with

rendered as (

    select * from {{ ref('int_rendered_items') }}
    where is_kept

),

decided as (

    select
        item_id,
        true as released,
        cast(null as varchar) as reason
    from rendered

)

select * from decided
