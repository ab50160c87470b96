-- When the loaded cohort is a demo by its patients, every table has the published number of rows.
-- A torn or filtered copy of the demo fails here; other cohorts are not looked at.
with

row_counts as (

    {%- for table_name in ['patients', 'admissions', 'diagnoses_icd', 'procedures_icd',
        'prescriptions'] %}
    select '{{ table_name }}' as table_name, count(*) as n_rows
    from {{ ref('stg_mimic_iv__' ~ table_name) }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

cohort as (

    select md5(string_agg(subject_id, '|' order by subject_id)) as subject_digest
    from {{ ref('stg_mimic_iv__patients') }}

),

demo_counts as (

    select * from {{ ref('demo_counts') }}
    where source = 'mimic_iv'

)

select
    demo_counts.table_name,
    demo_counts.n_rows as n_rows_published,
    row_counts.n_rows
from demo_counts
left join row_counts
    on demo_counts.table_name = row_counts.table_name
where row_counts.n_rows is distinct from demo_counts.n_rows
    and exists (
        select 1
        from cohort
        inner join demo_counts as published
            on cohort.subject_digest = published.subject_digest
    )
