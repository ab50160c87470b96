{#- CTEs and closing select of the data class of every source that has patients. Read from the data
    and never from the target's name: the marker of `ehrbench synth` counts only while its number
    of patients is right, a demo must be the published one, and whatever is left is credentialed.
    The relations are CTEs before it: row_counts (source, table_name, n_rows), patients (source,
    patient_id), manifest (source, line), demo_counts (the seed). -#}
{% macro data_classes(row_counts, patients, manifest, demo_counts) -%}
cohorts as (

    select
        source,
        count(*) as n_patients,
        md5(string_agg(patient_id, '|' order by patient_id)) as subject_digest
    from {{ patients }}
    group by source

),

markers as (

    select
        source,
        bool_or(regexp_matches(line, '"data_class"\s*:\s*"synthetic"')) as says_synthetic
    from {{ manifest }}
    group by source

),

marked_patients as (

    select distinct
        source,
        try_cast(regexp_extract(line, '"patients"\s*:\s*([0-9]+)', 1) as bigint) as n_patients
    from {{ manifest }}

),

demo_matches as (

    select
        demo_counts.source,
        count(*) filter (where row_counts.n_rows is distinct from demo_counts.n_rows)
            as n_different,
        min(demo_counts.subject_digest) as subject_digest
    from {{ demo_counts }} as demo_counts
    left join {{ row_counts }} as row_counts
        on demo_counts.source = row_counts.source
        and demo_counts.table_name = row_counts.table_name
    group by demo_counts.source

)

select
    cohorts.source,
    case
        when markers.says_synthetic and marked_patients.n_patients is not null then 'synthetic'
        when demo_matches.n_different = 0
            and cohorts.subject_digest = demo_matches.subject_digest
            then 'demo'
        else 'credentialed'
    end as data_class
from cohorts
left join markers
    on cohorts.source = markers.source
left join marked_patients
    on cohorts.source = marked_patients.source
    and cohorts.n_patients = marked_patients.n_patients
left join demo_matches
    on cohorts.source = demo_matches.source
{%- endmacro %}
