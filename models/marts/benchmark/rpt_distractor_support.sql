-- How many distractors would be right by a source of knowledge that the exclusion had not read? A
-- standing estimate of the distractors that are right by what no source here says. Per template
-- the chance that one distractor is supported by the held out source alone, were distractors drawn
-- by how often they are answers; of items, that at least one is. Millionths are summed, so that
-- the figure is the same each time.
{%- set n_min = (var('item_option_counts') | min) - 1 %}
{%- set n_max = (var('item_option_counts') | max) - 1 %}
with

templates as (

    select * from {{ ref('int_held_out_support') }}

),

chances as (

    select
        *,
        cast(n_supported as double) / (n_free + n_freed) as chance
    from templates

),

estimated as (

    select
        source,
        task,
        held_out,
        count(*) as n,
        count(*) filter (where n_supported > 0) as n_touched,
        sum(cast(round(1000000 * chance) as bigint)) as options,
        sum(cast(round(1000000 * (1 - pow(1 - chance, {{ n_min }}))) as bigint)) as items_min,
        sum(cast(round(1000000 * (1 - pow(1 - chance, {{ n_max }}))) as bigint)) as items_max
    from chances
    group by
        source,
        task,
        held_out

),

final as (

    select
        source,
        task,
        held_out,
        cast(n as integer) as n_templates,
        cast(n_touched as integer) as n_templates_touched,
        cast(cast(options as double) / n / 1000000 as decimal(9, 6)) as share_of_distractors,
        cast(cast(items_min as double) / n / 1000000 as decimal(9, 6)) as share_of_smallest_items,
        cast(cast(items_max as double) / n / 1000000 as decimal(9, 6)) as share_of_largest_items
    from estimated

)

select * from final
