-- What the seeds say about each ICD code that occurs, once per code and title.
with

events as (

    select * from {{ ref('int_events_placed') }}

),

status_codes as (

    select * from {{ ref('status_codes') }}

),

hindsight_codes as (

    select * from {{ ref('hindsight_codes') }}

),

codes as (

    select distinct
        code_system,
        normalized_code
    from events
    where event_type in ('diagnosis', 'procedure')
        and set_aside_reason is null

),

status_flags as (

    -- Of several ranges that hold a code, the longest one decides.
    select
        codes.code_system,
        codes.normalized_code,
        status_codes.is_status
    from codes
    inner join status_codes
        on codes.code_system = status_codes.code_system
        and {{ code_in_range('codes.normalized_code', 'status_codes.code_from',
            'status_codes.code_to') }}
    qualify row_number() over (
        partition by codes.code_system, codes.normalized_code
        order by length(status_codes.code_from) desc, status_codes.code_from
    ) = 1

),

hindsight_flags as (

    select distinct
        codes.code_system,
        codes.normalized_code
    from codes
    inner join hindsight_codes
        on codes.code_system = hindsight_codes.code_system
        and {{ code_in_range('codes.normalized_code', 'hindsight_codes.code_from',
            'hindsight_codes.code_to') }}

)

select
    codes.code_system,
    codes.normalized_code,
    coalesce(status_flags.is_status, false) as is_status_code,
    hindsight_flags.normalized_code is not null as is_hindsight
from codes
left join status_flags
    on codes.code_system = status_flags.code_system
    and codes.normalized_code = status_flags.normalized_code
left join hindsight_flags
    on codes.code_system = hindsight_flags.code_system
    and codes.normalized_code = hindsight_flags.normalized_code
