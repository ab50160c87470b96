-- The raw table behind each type of rows of the loaded sources: the source's own row of the seed,
-- else the row for any source.
with

sources as (

    select distinct source
    from {{ ref('int_source_row_counts') }}

),

source_tables as (

    select * from {{ ref('source_tables') }}

)

select
    sources.source,
    source_tables.row_type,
    concat(sources.source, '.', source_tables.source_table) as source_table
from sources
inner join source_tables
    on source_tables.source in (sources.source, '*')
qualify row_number() over (
    partition by sources.source, source_tables.row_type
    order by case when source_tables.source = '*' then 1 else 0 end
) = 1
