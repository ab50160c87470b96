{{ config(materialized='view') }}

-- Rows of the ICD and ATC files that could not be read as they stand. GEM rows that state that
-- there is no map are whole, and counted in int_terminology_quarantined.
with i9_gems as (

    select * from {{ ref('stg_icd__i9_gems') }}

),

i10_gems as (

    select * from {{ ref('stg_icd__i10_gems') }}

),

icd9cm_titles as (

    select * from {{ ref('stg_icd__icd9cm_titles') }}

),

icd9proc_titles as (

    select * from {{ ref('stg_icd__icd9proc_titles') }}

),

icd10cm_titles as (

    select * from {{ ref('stg_icd__icd10cm_titles') }}

),

icd10pcs_titles as (

    select * from {{ ref('stg_icd__icd10pcs_titles') }}

),

icd9cm_tree as (

    select * from {{ ref('stg_icd__icd9cm_tree') }}

),

icd10cm_tree as (

    select * from {{ ref('stg_icd__icd10cm_tree') }}

),

tabular_notes as (

    select * from {{ ref('stg_icd__tabular_notes') }}

),

icd_note_types as (

    select * from {{ ref('icd_note_types') }}

),

procedure_roles as (

    select * from {{ ref('procedure_roles') }}

),

procedure_concepts as (

    select * from {{ ref('stg_icd__procedure_concepts') }}

),

atc_codes as (

    select * from {{ ref('stg_atc__codes') }}

),

ingredient_atc as (

    select * from {{ ref('stg_atc__ingredients') }}

),

problems as (

    select
        'icd.i9_gems' as source_table,
        source_file as file,
        source_row as row,
        line_problem as reason,
    from i9_gems
    union all
    select
        'icd.i10_gems' as source_table,
        source_file as file,
        source_row as row,
        line_problem as reason,
    from i10_gems
    union all
    select
        'icd.icd9cm_titles' as source_table,
        source_file as file,
        source_row as row,
        line_problem as reason,
    from icd9cm_titles
    union all
    select
        'icd.icd9proc_titles' as source_table,
        source_file as file,
        source_row as row,
        line_problem as reason,
    from icd9proc_titles
    union all
    select
        'icd.icd10cm_titles' as source_table,
        source_file as file,
        source_row as row,
        line_problem as reason,
    from icd10cm_titles
    union all
    select
        'icd.icd10pcs_titles' as source_table,
        source_file as file,
        source_row as row,
        line_problem as reason,
    from icd10pcs_titles
    union all
    select
        'icd.icd9cm_tree' as source_table,
        source_file as file,
        source_row as row,
        case when coalesce(trim(code), '') = '' then 'missing_code' end as reason,
    from icd9cm_tree
    union all
    select
        'icd.icd10cm_tree' as source_table,
        source_file as file,
        source_row as row,
        case when coalesce(trim(code), '') = '' then 'missing_code' end as reason,
    from icd10cm_tree
    union all
    select
        'icd.tabular_notes' as source_table,
        source_file as file,
        source_row as row,
        case
            when coalesce(trim(tabular_notes.code), '') = '' then 'missing_code'
            when tabular_notes.note_type is null or coalesce(tabular_notes.note, '') = ''
                then 'too_few_fields'
            when icd_note_types.source_note_type is null then 'unknown_note_type'
        end as reason,
    from tabular_notes
    left join icd_note_types
        on tabular_notes.note_type = icd_note_types.source_note_type
    union all
    select
        'icd.procedure_concepts' as source_table,
        source_file as file,
        source_row as row,
        case
            when coalesce(code_or_prefix, '') = '' then 'missing_code'
            when {{ cui_id('cui') }} is null then 'malformed_cui'
            when match is null or match not in ('exact', 'prefix') then 'unknown_match'
            when procedure_roles.role is null then 'unknown_role'
        end as reason,
    from procedure_concepts
    left join procedure_roles
        on procedure_concepts.role = procedure_roles.role
    union all
    select
        'atc.atc_codes' as source_table,
        source_file as file,
        source_row as row,
        case when coalesce(atc_code, '') = '' then 'missing_code' end as reason,
    from atc_codes
    union all
    select
        'atc.ingredient_atc' as source_table,
        source_file as file,
        source_row as row,
        case
            when coalesce(atc_code, '') = '' then 'missing_code'
            when {{ cui_id('cui') }} is null then 'malformed_cui'
        end as reason,
    from ingredient_atc

)

select
    source_table,
    file,
    row,
    reason,
    'set_aside' as action,
from problems
where reason is not null
