-- Which sources the pooled figures count. A source that is made from another one (seed
-- source_overlaps) holds the same visits, so both together would count them twice: it is left out
-- as soon as the source it is made from has scores.
with

items as (

    select distinct source
    from {{ ref('dim_items') }}

),

scored_sources as (

    select distinct source
    from {{ ref('fct_scores') }}

),

source_overlaps as (

    select * from {{ ref('source_overlaps') }}

)

select
    items.source,
    case when scored_sources.source is null then null else source_overlaps.derived_from end
        as counted_by,
    scored_sources.source is null as is_pooled
from items
left join source_overlaps
    on items.source = source_overlaps.source
left join scored_sources
    on source_overlaps.derived_from = scored_sources.source
