with

rows_set_aside as (

    select * from {{ ref('int_rows_set_aside') }}

),

source_tables as (

    select * from {{ ref('int_source_tables') }}

),

terminology_quarantined as (

    select * from {{ ref('int_terminology_quarantined') }}

),

predications_quarantined as (

    select * from {{ ref('int_predications_quarantined') }}

),

other_bad_rows as (

    select source_table, reason from {{ ref('int_drugbank__bad_rows') }}
    where action = 'set_aside'
    union all
    select source_table, reason from {{ ref('int_pubmed__bad_rows') }}
    where action = 'set_aside'
    union all
    -- Bad predications are among those that int_predications_quarantined counts.
    select source_table, reason from {{ ref('int_semmeddb__bad_rows') }}
    where action = 'set_aside'
        and source_table <> 'semmeddb.predication'

),

completions_quarantined as (

    select * from {{ ref('int_completions_quarantined') }}

),

cohort_rows as (

    select
        coalesce(
            source_tables.source_table,
            concat(rows_set_aside.source, '.', rows_set_aside.row_type)
        ) as source_table,
        rows_set_aside.reason,
        rows_set_aside.n_rows
    from rows_set_aside
    left join source_tables
        on rows_set_aside.source = source_tables.source
        and rows_set_aside.row_type = source_tables.row_type

),

united as (

    select source_table, reason, n_rows from cohort_rows
    union all
    select source_table, reason, n_rows from terminology_quarantined
    union all
    select source_table, reason, n_rows from predications_quarantined
    union all
    select source_table, reason, n_rows from completions_quarantined
    union all
    select source_table, reason, 1 as n_rows from other_bad_rows

)

select
    source_table,
    reason,
    cast(sum(n_rows) as bigint) as n_rows
from united
group by source_table, reason
