with

events as (

    select * from {{ ref('int_events_deduplicated') }}

)

select
    event_key,
    visit_key,
    source,
    event_type,
    code_system,
    source_code,
    normalized_code,
    label,
    first_at,
    seq_num,
    n_source_rows,
    is_status_code,
    is_routine,
    is_residual_title,
    is_hindsight,
    procedure_role,
    administration,
    is_combination
from events
