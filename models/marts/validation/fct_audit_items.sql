{%- set draw = key(["'" ~ var('audit_seed') ~ "'", 'item_id']) -%}
with

audit_frame as (

    select * from {{ ref('int_audit_item_frame') }}

),

-- Items of a block show each other's answers, so each block gives one before any gives two. By a
-- key that the place does not know: large blocks come no earlier.
ranked as (

    select
        *,
        row_number() over (
            partition by stratum_key
            order by block_place, {{ draw }}, item_id
        ) <= n_wanted as is_drawn
    from audit_frame

),

places as (

    select
        stratum_key,
        block_place,
        cast(round(
            count(*) filter (where is_drawn) / cast(count(*) as double), 9
        ) as decimal(10, 9)) as share_drawn
    from ranked
    group by
        stratum_key,
        block_place

),

-- What a block with so many items gives to the draw, whichever of them.
expected as (

    select
        stratum_key,
        block_place as n_in_block,
        sum(share_drawn) over (
            partition by stratum_key
            order by block_place
        ) as n_from_block
    from places

),

drawn as (

    select
        *,
        count(*) over (partition by stratum_key) as n_drawn
    from ranked
    where is_drawn

)

select
    drawn.item_id,
    drawn.template_key,
    drawn.source,
    drawn.task,
    drawn.n_options,
    drawn.stratum_key,
    cast(drawn.n_in_stratum as bigint) as n_in_stratum,
    cast(drawn.n_drawn as bigint) as n_drawn,
    cast(round(drawn.n_in_block / cast(expected.n_from_block as double), 3) as decimal(12, 3))
        as n_stands_for
from drawn
inner join expected
    on drawn.stratum_key = expected.stratum_key
    and drawn.n_in_block = expected.n_in_block
