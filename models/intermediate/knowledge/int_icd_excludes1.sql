-- DuckDB only: the notes' lists of codes are split here, so that the check itself stays
-- portable.
with

tabular_notes as (

    select * from {{ ref('stg_icd__tabular_notes') }}

),

note_types as (

    select * from {{ ref('icd_note_types') }}
    where note_type = 'excludes1'

),

qualified_notes as (

    select * from {{ ref('excludes1_qualified_notes') }}

),

visit_events as (

    select * from {{ ref('fct_visit_events') }}

),

cohort_codes as (

    select distinct
        code_system,
        normalized_code as code
    from visit_events
    where event_type = 'diagnosis'
        and code_system in (select code_system from note_types)

),

-- A note holds for every code under its own code or range, against every code under its targets;
-- a note of only some of those codes says nothing of a whole category.
note_targets as (

    select distinct
        note_types.code_system,
        tabular_notes.code as note_code,
        unnest(string_split(tabular_notes.target_codes, ';')) as target_code
    from tabular_notes
    inner join note_types
        on tabular_notes.note_type = note_types.source_note_type
    left join qualified_notes
        on regexp_matches(tabular_notes.note, qualified_notes.pattern)
    where tabular_notes.target_codes <> ''
        and tabular_notes.note <> ''
        and qualified_notes.pattern is null

),

note_codes as (

    select code_system, note_code as code_range from note_targets
    union
    select code_system, target_code as code_range from note_targets

),

ranges as (

    select
        code_system,
        code_range,
        trim(split_part(code_range, '-', 1)) as code_from,
        coalesce(
            nullif(trim(split_part(code_range, '-', 2)), ''),
            trim(split_part(code_range, '-', 1))
        ) as code_to
    from note_codes

),

members as (

    select
        ranges.code_system,
        ranges.code_range,
        cohort_codes.code
    from ranges
    inner join cohort_codes
        on ranges.code_system = cohort_codes.code_system
        and substr(cohort_codes.code, 1, length(ranges.code_from)) >= ranges.code_from
        and substr(cohort_codes.code, 1, length(ranges.code_to)) <= ranges.code_to
    where ranges.code_from <> ''

),

-- A target within the note's own codes is a remark in its text, not an exclusion.
pairs as (

    select
        note_targets.code_system,
        note_members.code,
        target_members.code as excluded_code
    from note_targets
    inner join members as note_members
        on note_targets.code_system = note_members.code_system
        and note_targets.note_code = note_members.code_range
    inner join members as target_members
        on note_targets.code_system = target_members.code_system
        and note_targets.target_code = target_members.code_range
    left join members as own_members
        on note_targets.code_system = own_members.code_system
        and note_targets.note_code = own_members.code_range
        and target_members.code = own_members.code
    where own_members.code is null

)

select
    code_system,
    code,
    excluded_code
from pairs

union

select
    code_system,
    excluded_code as code,
    code as excluded_code
from pairs
