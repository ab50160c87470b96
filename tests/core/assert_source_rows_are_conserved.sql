-- Every source row is in a mart or counted in rpt_quarantine; one row per table where the sums
-- differ.
with

staged as (

    select 'mimic_iv.patients' as source_table, count(*) as n_rows
    from {{ ref('stg_mimic_iv__patients') }}
    union all
    select 'mimic_iv.admissions', count(*)
    from {{ ref('stg_mimic_iv__admissions') }}
    union all
    select 'mimic_iv.diagnoses_icd', count(*)
    from {{ ref('stg_mimic_iv__diagnoses_icd') }}
    union all
    select 'mimic_iv.procedures_icd', count(*)
    from {{ ref('stg_mimic_iv__procedures_icd') }}
    union all
    select 'mimic_iv.prescriptions', count(*)
    from {{ ref('stg_mimic_iv__prescriptions') }}

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

accounted as (

    select source_tables.source_table, kept.n_rows
    from kept
    inner join {{ ref('source_tables') }} as source_tables
        on kept.source = source_tables.source
        and kept.row_type = source_tables.row_type
    union all
    select source_table, n_rows
    from {{ ref('rpt_quarantine') }}

),

accounted_sums as (

    select source_table, sum(n_rows) as n_rows
    from accounted
    group by source_table

)

select
    staged.source_table,
    staged.n_rows,
    coalesce(accounted_sums.n_rows, 0) as n_accounted
from staged
left join accounted_sums
    on staged.source_table = accounted_sums.source_table
where staged.n_rows is distinct from coalesce(accounted_sums.n_rows, 0)
