with

events as (

    select * from {{ ref('fct_visit_events') }}

),

unmapped as (

    select * from {{ ref('brg_event_concepts') }}
    where cui_id is null

),

mapping_reasons as (

    select * from {{ ref('mapping_reasons') }}

),

candidates as (

    select
        code_system,
        normalized_code,
        concat({{ cui_text('cui_id') }}, ' ', name) as candidate
    from {{ ref('int_unmapped_candidates') }}
    qualify row_number() over (partition by code_system, normalized_code order by cui_id)
        <= {{ var('max_mapping_candidates') }}

),

candidate_lists as (

    select
        code_system,
        normalized_code,
        string_agg(candidate, '; ' order by candidate) as candidates
    from candidates
    group by code_system, normalized_code

),

unmapped_events as (

    select
        events.source,
        events.code_system,
        events.normalized_code,
        events.label,
        unmapped.reason,
        events.is_status_code,
        events.n_source_rows
    from events
    inner join unmapped
        on events.event_key = unmapped.event_key

),

-- each source by itself, and all of them together
scoped as (

    select * from unmapped_events
    union all
    select * replace ('all' as source) from unmapped_events

),

counted as (

    select
        source,
        code_system,
        normalized_code,
        min(label) as label,
        min(reason) as reason,
        bool_or(is_status_code) as is_status_code,
        count(*) as n_events,
        cast(sum(n_source_rows) as bigint) as n_source_rows
    from scoped
    group by source, code_system, normalized_code

)

select
    counted.source,
    cast(row_number() over (
        partition by counted.source
        order by counted.n_source_rows desc, counted.code_system, counted.normalized_code
    ) as integer) as frequency_rank,
    counted.code_system,
    counted.normalized_code,
    counted.label,
    counted.reason,
    mapping_reasons.what_to_do,
    candidate_lists.candidates,
    counted.is_status_code,
    counted.n_events,
    counted.n_source_rows
from counted
left join mapping_reasons
    on counted.reason = mapping_reasons.reason
left join candidate_lists
    on counted.code_system = candidate_lists.code_system
    and counted.normalized_code = candidate_lists.normalized_code
