-- When MIMIC-IV or MIMIC-III is the demo by its patients, every table has the published number of
-- rows. A torn or filtered copy of a demo fails here; a table that is missing is read as empty, other
-- cohorts are not looked at, and sites are in assert_demo_sites_are_the_demo.
with

row_counts as (

    select source, table_name, n_rows from {{ ref('int_source_row_counts') }}
    union all
    {{ staged_row_counts('mimic_iii', ['icustays']) }}

),

patients as (

    select 'mimic_iv' as source, subject_id as patient_id
    from {{ ref('stg_mimic_iv__patients') }}
    union all
    select 'mimic_iii', subject_id
    from {{ ref('stg_mimic_iii__patients') }}

),

cohorts as (

    select
        source,
        md5(string_agg(patient_id, '|' order by patient_id)) as subject_digest
    from patients
    group by source

),

demo_counts as (

    select * from {{ ref('demo_counts') }}

),

demos as (

    select
        cohorts.source,
        demo_counts.source as demo
    from cohorts
    inner join demo_counts
        on cohorts.source = demo_counts.source
        and cohorts.subject_digest = demo_counts.subject_digest

)

select
    demos.source,
    demo_counts.table_name,
    demo_counts.n_rows as n_rows_published,
    row_counts.n_rows
from demos
inner join demo_counts
    on demos.demo = demo_counts.source
inner join row_counts
    on demos.source = row_counts.source
    and demo_counts.table_name = row_counts.table_name
where row_counts.n_rows > 0
    and row_counts.n_rows <> demo_counts.n_rows
