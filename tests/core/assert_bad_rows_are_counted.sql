-- The rows of patients' sources that fct_quarantine shows as set aside are those that
-- rpt_quarantine counts, reason by reason and both ways: the models that set rows aside and the
-- lists of bad rows agree. What only a join finds (no such admission, after the discharge, no
-- drug, left out by a rule) is counted and not listed row by row.
with

bad_rows as (

    select source_table, reason from {{ ref('int_mimic_iv__bad_rows') }}
    where action = 'set_aside'
    union all
    select source_table, reason from {{ ref('int_mimic_iii__bad_rows') }}
    where action = 'set_aside'
        -- Stays only say which patients count; they reach no mart.
        and source_table <> 'mimic_iii.icustays'
    union all
    select source_table, reason from {{ ref('int_omop__bad_rows') }}
    where action = 'set_aside'

),

listed as (

    select source_table, reason, count(*) as n_rows
    from bad_rows
    group by source_table, reason

),

counted as (

    select
        quarantine.source_table,
        quarantine.reason,
        quarantine.n_rows
    from {{ ref('rpt_quarantine') }} as quarantine
    inner join {{ ref('int_source_tables') }} as source_tables
        on quarantine.source_table = source_tables.source_table
    where source_tables.row_type <> 'administration'
        and (
            quarantine.reason in (
                'header_row', 'torn_line', 'missing_key', 'malformed_key', 'torn_id',
                'duplicate_key', 'duplicate_row', 'missing_time', 'unreadable_date', 'missing_code',
                'missing_drug_text', 'unknown_code_version'
            )
            or quarantine.reason in (select reason from listed)
        )

)

select
    coalesce(listed.source_table, counted.source_table) as source_table,
    coalesce(listed.reason, counted.reason) as reason,
    coalesce(listed.n_rows, 0) as n_listed,
    coalesce(counted.n_rows, 0) as n_counted
from listed
full outer join counted
    on listed.source_table = counted.source_table
    and listed.reason = counted.reason
where listed.n_rows is distinct from counted.n_rows
