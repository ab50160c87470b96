-- Data class of each OMOP site that has persons. A demo is known by its persons, whatever the
-- folder's name is.
with

persons as (

    select * from {{ ref('stg_omop__person') }}

),

manifest_lines as (

    select * from {{ ref('stg_omop__manifest') }}

),

listed_demos as (

    select * from {{ ref('demo_counts') }}
    where source like 'omop%'

),

patients as (

    select
        source,
        person_id as patient_id
    from persons
    where not is_header_row

),

site_digests as (

    select
        source,
        md5(string_agg(patient_id, '|' order by patient_id)) as subject_digest
    from patients
    group by source

),

-- One marker stands for all sites that lie beside it.
manifest as (

    select
        site_digests.source,
        manifest_lines.line
    from site_digests
    cross join manifest_lines

),

demo_counts as (

    select
        site_digests.source,
        listed_demos.table_name,
        listed_demos.n_rows,
        listed_demos.subject_digest
    from site_digests
    inner join listed_demos as known_persons
        on site_digests.subject_digest = known_persons.subject_digest
    inner join listed_demos
        on known_persons.source = listed_demos.source

),

row_counts as (

    {%- for table_name in ['person', 'visit_occurrence', 'condition_occurrence', 'drug_exposure',
        'procedure_occurrence'] %}
    select
        source,
        '{{ table_name }}' as table_name,
        count(*) as n_rows
    from {{ ref('stg_omop__' ~ table_name) }}
    group by source
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

{{ data_classes('row_counts', 'patients', 'manifest', 'demo_counts') }}
