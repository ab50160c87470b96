{%- set draw = key(["'" ~ var('audit_seed') ~ "'", 'template_key', "'place'"]) -%}
-- Grain: item_id, one item per template. Stable over answers: nothing here knows who was scored.
with

items as (

    select
        item_id,
        template_key,
        source,
        task,
        n_options,
        variant
    from {{ ref('dim_items') }}
    where in_subset
        and format = 'mcq'

),

templates as (

    select
        template_key,
        triple_id
    from {{ ref('int_templates') }}

),

-- Templates of a block show the answers of each other.
balanced as (

    select
        template_key,
        block_number
    from {{ ref('int_templates_balanced') }}

),

audit_sample as (

    select * from {{ ref('fct_audit_sample') }}

),

copied_sources as (

    select * from {{ ref('int_copied_sources') }}

),

-- The sheet of triples would give their answers away.
unseen as (

    select items.*
    from items
    inner join templates
        on items.template_key = templates.template_key
    anti join audit_sample
        on templates.triple_id = audit_sample.triple_id
    anti join copied_sources
        on items.source = copied_sources.source

),

-- The options of a smaller item of the template are among those of a larger one.
largest as (

    select
        *,
        row_number() over (
            partition by template_key
            order by n_options desc, variant, item_id
        ) as place
    from unseen

),

sized as (

    select
        largest.item_id,
        largest.template_key,
        largest.source,
        largest.task,
        largest.n_options,
        -- A template without a block is its own.
        coalesce(cast(balanced.block_number as varchar), largest.template_key) as block,
        count(*) over (
            partition by
                largest.source,
                largest.task,
                largest.n_options
        ) as n_in_stratum,
        count(*) over () as n_in_frame
    from largest
    left join balanced
        on largest.template_key = balanced.template_key
    where largest.place = 1

)

select
    item_id,
    template_key,
    source,
    task,
    n_options,
    {{ key(['source', 'task', 'n_options']) }} as stratum_key,
    row_number() over (
        partition by
            source,
            task,
            n_options,
            block
        order by
            {{ draw }},
            template_key
    ) as block_place,
    count(*) over (
        partition by
            source,
            task,
            n_options,
            block
    ) as n_in_block,
    n_in_stratum,
    least(
        n_in_stratum,
        greatest(
            {{ var('audit_min_per_stratum') }},
            cast(round(cast({{ var('audit_items') }} as double) * n_in_stratum / n_in_frame)
                as bigint)
        )
    ) as n_wanted
from sized
