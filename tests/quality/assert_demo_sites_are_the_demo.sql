{{ config(severity='warn') }}
-- A site that is a demo by its persons has the published rows, and the name of the demo where rules
-- go by it (seed source_overlaps). A warning: the persons of a demo may come with other tables.
with

cohorts as (

    select
        source,
        md5(string_agg(person_id, '|' order by person_id)) as subject_digest
    from {{ ref('stg_omop__person') }}
    group by source

),

demo_counts as (

    select * from {{ ref('demo_counts') }}

),

row_counts as (

    select source, table_name, n_rows from {{ ref('int_source_row_counts') }}

),

demos as (

    select
        cohorts.source,
        demo_counts.source as demo,
        demo_counts.comment
    from cohorts
    inner join demo_counts
        on cohorts.subject_digest = demo_counts.subject_digest

)

select
    source,
    concat(
        'this is the ', comment, ': name its folder ', replace(demo, '_', '-')
    ) as problem
from demos
where source <> demo
    and demo in (select source from {{ ref('source_overlaps') }})
union all
select
    demos.source,
    concat(
        demo_counts.table_name, ' has ', coalesce(row_counts.n_rows, 0), ' rows, the ',
        demos.comment, ' ', demo_counts.n_rows
    ) as problem
from demos
inner join demo_counts
    on demos.demo = demo_counts.source
left join row_counts
    on demos.source = row_counts.source
    and demo_counts.table_name = row_counts.table_name
where row_counts.n_rows is distinct from demo_counts.n_rows
