{{ config(materialized='view', tags=['portable']) }}

with

predications as (

    select * from {{ ref('stg_semmeddb__predications') }}

),

predication_aux as (

    select * from {{ ref('stg_semmeddb__predication_aux') }}

),

sentences as (

    select * from {{ ref('stg_semmeddb__sentences') }}

),

citations as (

    select * from {{ ref('stg_semmeddb__citations') }}

),

generic_concepts as (

    select * from {{ ref('stg_semmeddb__generic_concepts') }}

),

duplicate_rows as (

    select * from {{ ref('int_semmeddb__duplicate_rows') }}

),

judged as (

    select
        'semmeddb.predication' as source_table,
        source_row,
        case
            when line_problem is not null then line_problem
            when predication_id is null
                or sentence_id is null
                or pmid is null
                or predicate_name is null
                or subject_cui is null
                or object_cui is null
                then 'missing_key'
            when {{ is_malformed_cui('subject_cui', 'subject_cui_id') }}
                or {{ is_malformed_cui('object_cui', 'object_cui_id') }}
                then 'malformed_cui'
        end as reason
    from predications

    union all

    select
        'semmeddb.predication_aux' as source_table,
        source_row,
        case
            when line_problem is not null then line_problem
            when predication_id is null then 'missing_key'
        end as reason
    from predication_aux

    union all

    select
        'semmeddb.sentence' as source_table,
        source_row,
        case
            when line_problem is not null then line_problem
            when sentence_id is null or sentence is null then 'missing_key'
        end as reason
    from sentences

    union all

    select
        'semmeddb.citations' as source_table,
        source_row,
        case
            when line_problem is not null then line_problem
            when pmid is null then 'missing_key'
        end as reason
    from citations

    union all

    select
        'semmeddb.generic_concept' as source_table,
        source_row,
        case
            when line_problem is not null then line_problem
            when cui is null then 'missing_key'
            when {{ cui_id('cui') }} is null then 'malformed_cui'
        end as reason
    from generic_concepts

    union all

    select
        source_table,
        source_row,
        'duplicate_key' as reason
    from duplicate_rows

)

-- The row is that of the dump, also when the dump was converted.
select
    source_table,
    concat('semmedVER43_2024_R_', upper(split_part(source_table, '.', 2)), '.csv') as file,
    source_row as row,
    reason,
    case
        when reason in ('line_break', 'stray_quote') then 'repaired'
        else 'set_aside'
    end as action
from judged
where reason is not null
