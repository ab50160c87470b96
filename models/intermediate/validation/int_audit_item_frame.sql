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

audit_sample as (

    select * from {{ ref('fct_audit_sample') }}

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

),

-- A source made from another that is there holds the same visits.
copies as (

    select distinct items.source
    from items
    inner join source_overlaps
        on items.source = source_overlaps.source
    inner join items as origins
        on source_overlaps.derived_from = origins.source

),

-- The sheet of triples would give their answers away.
unseen as (

    select items.*
    from items
    inner join templates
        on items.template_key = templates.template_key
    anti join audit_sample
        on templates.triple_id = audit_sample.triple_id
    anti join copies
        on items.source = copies.source

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
        item_id,
        template_key,
        source,
        task,
        n_options,
        count(*) over (partition by source, task, n_options) as n_in_stratum,
        count(*) over () as n_in_frame
    from largest
    where place = 1

)

select
    item_id,
    template_key,
    source,
    task,
    n_options,
    {{ key(['source', 'task', 'n_options']) }} as stratum_key,
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
