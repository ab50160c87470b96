-- Ranges of code prefixes whose ends have different lengths, or the wrong order: such a range
-- holds other codes than it seems to.
with

ranges as (

    select 'status_codes' as seed_name, code_system, code_from, code_to
    from {{ ref('status_codes') }}
    union all
    select 'hindsight_codes', code_system, code_from, code_to
    from {{ ref('hindsight_codes') }}

)

select *
from ranges
where code_from is null
    or code_to is null
    or length(code_from) <> length(code_to)
    or code_from > code_to
