-- Rows of each raw table of patients' sources: what the marts and the rows set aside add up to.
-- The union point of all sources; a site of the OMOP format is a source of its own.
with

mimic_iv as (

    {{ staged_row_counts('mimic_iv', ['patients', 'admissions', 'diagnoses_icd',
        'procedures_icd', 'prescriptions']) }}

),

mimic_iii as (

    {{ staged_row_counts('mimic_iii', ['patients', 'admissions', 'diagnoses_icd',
        'procedures_icd', 'prescriptions']) }}

),

omop as (

    {%- for table_name in ['person', 'visit_occurrence', 'condition_occurrence',
        'drug_exposure', 'procedure_occurrence'] %}
    select
        source,
        cast('{{ table_name }}' as varchar) as table_name,
        count(*) as n_rows
    from {{ ref('stg_omop__' ~ table_name) }}
    group by source
    {{- '\n    union all' if not loop.last }}
    {%- endfor %}

),

united as (

    select * from mimic_iv
    union all
    select * from mimic_iii
    union all
    select * from omop

)

select *
from united
where n_rows > 0
