-- Data class of the loaded MIMIC-IV cohort, one row while it has patients. Read from the data and
-- never from the target's name: the marker of `ehrbench synth` counts only while its number of
-- patients is right, a demo must be the published one, and whatever is left is credentialed.
with

patients as (

    select * from {{ ref('stg_mimic_iv__patients') }}

),

manifest as (

    select * from {{ ref('stg_mimic_iv__manifest') }}

),

demo_counts as (

    select * from {{ ref('demo_counts') }}
    where source = 'mimic_iv'

),

row_counts as (

    {%- for table_name in ['patients', 'admissions', 'diagnoses_icd', 'procedures_icd',
        'prescriptions'] %}
    select
        '{{ table_name }}' as table_name,
        count(*) as n_rows
    from {{ ref('stg_mimic_iv__' ~ table_name) }}
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

cohort as (

    select
        count(*) as n_patients,
        md5(string_agg(subject_id, '|' order by subject_id)) as subject_digest
    from patients

),

markers as (

    select
        coalesce(bool_or(regexp_matches(line, '"data_class"\s*:\s*"synthetic"')), false)
            as says_synthetic
    from manifest

),

marked_patients as (

    select distinct
        try_cast(regexp_extract(line, '"patients"\s*:\s*([0-9]+)', 1) as bigint) as n_patients
    from manifest

),

demo_matches as (

    select
        count(*) filter (where row_counts.n_rows is distinct from demo_counts.n_rows)
            as n_different,
        count(demo_counts.subject_digest) as n_digests,
        min(demo_counts.subject_digest) as subject_digest
    from demo_counts
    left join row_counts
        on demo_counts.table_name = row_counts.table_name

)

select
    cast('mimic_iv' as varchar) as source,
    case
        when markers.says_synthetic
            and cohort.n_patients in (select n_patients from marked_patients)
            then 'synthetic'
        when demo_matches.n_different = 0
            and demo_matches.n_digests > 0
            and cohort.subject_digest = demo_matches.subject_digest
            then 'demo'
        else 'credentialed'
    end as data_class
from cohort
cross join markers
cross join demo_matches
where cohort.n_patients > 0
