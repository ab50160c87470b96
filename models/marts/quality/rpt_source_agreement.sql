with

comparisons as (

    select * from {{ ref('int_source_comparisons') }}

)

select
    source_a,
    source_b,
    event_type,
    held_by,
    reason,
    count(*) as n_rows,
    count(distinct person_group) as n_persons,
    count(distinct (code_system, normalized_code)) filter (where normalized_code is not null)
        as n_codes
from comparisons
group by source_a, source_b, event_type, held_by, reason
