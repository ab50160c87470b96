-- Notes that order two codes, as ranges: a note holds for every code that begins with its own code,
-- or lies in its range, against every code that begins with a target or lies in its range. Nothing
-- is spread out to pairs of codes; both ends are joined by
--   substr(code, 1, length(code_from)) >= code_from and substr(code, 1, length(code_to)) <= code_to
-- since the ends of a range may differ in length (B50.0-B54).
with notes as (

    select * from {{ ref('stg_icd__tabular_notes') }}

),

icd_note_types as (

    select * from {{ ref('icd_note_types') }}

),

typed as (

    select
        icd_note_types.code_system,
        trim(notes.code) as normalized_code,
        icd_note_types.note_type,
        icd_note_types.first_side,
        notes.note,
        notes.target_codes,
    from notes
    inner join icd_note_types
        on notes.note_type = icd_note_types.source_note_type
    where
        trim(notes.code) <> ''
        -- a torn row
        and notes.note <> ''
        and icd_note_types.first_side <> ''

),

-- a note whose text names no code keeps one row
targets as (

    select
        code_system,
        normalized_code,
        note_type,
        first_side,
        note,
        unnest(string_split(coalesce(target_codes, ''), ';')) as target_code,
    from typed

),

cleaned as (

    select distinct
        code_system,
        normalized_code,
        note_type,
        first_side,
        note,
        nullif(trim(target_code), '') as target_code,
    from targets

)

select
    code_system,
    normalized_code,
    trim(split_part(normalized_code, '-', 1)) as code_from,
    trim(split_part(normalized_code, '-', -1)) as code_to,
    case when contains(normalized_code, '-') then 'range' else 'code' end as scope,
    note_type,
    first_side,
    note,
    target_code,
    trim(split_part(target_code, '-', 1)) as target_from,
    trim(split_part(target_code, '-', -1)) as target_to,
from cleaned
