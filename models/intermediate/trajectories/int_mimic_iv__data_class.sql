with

patients as (

    select
        cast('mimic_iv' as varchar) as source,
        subject_id as patient_id
    from {{ ref('stg_mimic_iv__patients') }}

),

manifest as (

    select
        cast('mimic_iv' as varchar) as source,
        line
    from {{ ref('stg_mimic_iv__manifest') }}

),

demo_counts as (

    select * from {{ ref('demo_counts') }}

),

row_counts as (

    {{ staged_row_counts('mimic_iv', ['patients', 'admissions', 'diagnoses_icd',
        'procedures_icd', 'prescriptions']) }}

),

{{ data_classes('row_counts', 'patients', 'manifest', 'demo_counts') }}
