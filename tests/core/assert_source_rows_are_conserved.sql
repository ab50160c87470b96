-- Every source row is in a mart or counted in rpt_quarantine; one row per table where the sums
-- differ. Holds for every source that is loaded, and for a source that is in the marts without
-- having been counted.
with

staged as (

    select
        row_counts.source,
        concat(row_counts.source, '.', row_counts.table_name) as source_table,
        row_counts.n_rows
    from {{ ref('int_source_row_counts') }} as row_counts

),

kept as (

    select 'patients' as row_type, source, count(*) as n_rows
    from {{ ref('dim_patients') }}
    group by source
    union all
    select 'admissions', source, sum(n_merged_admissions)
    from {{ ref('dim_visits') }}
    group by source
    union all
    select event_type, source, sum(n_source_rows)
    from {{ ref('fct_visit_events') }}
    group by event_type, source

),

kept_tables as (

    select
        coalesce(
            source_tables.source_table, concat(kept.source, '.', kept.row_type)
        ) as source_table,
        kept.n_rows
    from kept
    left join {{ ref('int_source_tables') }} as source_tables
        on kept.source = source_tables.source
        and kept.row_type = source_tables.row_type

),

set_aside as (

    select
        quarantine.source_table,
        quarantine.n_rows
    from {{ ref('rpt_quarantine') }} as quarantine
    inner join {{ ref('int_source_tables') }} as source_tables
        on quarantine.source_table = source_tables.source_table
    -- Administration records say what became of an order; they are no events of their own.
    where source_tables.row_type <> 'administration'

),

accounted as (

    select source_table, sum(n_rows) as n_rows
    from (
        select source_table, n_rows from kept_tables
        union all
        select source_table, n_rows from set_aside
    ) as united
    group by source_table

)

select
    coalesce(staged.source_table, accounted.source_table) as source_table,
    coalesce(staged.n_rows, 0) as n_rows,
    coalesce(accounted.n_rows, 0) as n_accounted
from staged
full outer join accounted
    on staged.source_table = accounted.source_table
where staged.n_rows is distinct from accounted.n_rows
