-- How much of each code system reaches a concept, how exactly, and what becomes of the rest? One
-- row per source, kind of event and code system.
-- Run with: dbt show --select coverage_by_code_system --limit -1 --vars "{code_class: clinical}"
-- code_class is all (the default) or clinical, which leaves status codes out. share_exact counts
-- concepts of the code itself, share_by_map and share_broader those reached through a map between
-- code systems or a broader code. rpt_unmapped_codes lists the codes behind the last column.
with coverage as (
    select * from {{ ref('rpt_mapping_coverage') }}
    where code_class = '{{ var('code_class', 'all') | replace("'", "''") }}'
        and outcome_kind <> 'total'
),

counted as (
    select
        source,
        event_type,
        code_system,
        cast(sum(n_events) as bigint) as n_events,
        cast(sum(n_codes) as bigint) as n_codes,
        cast(sum(n_source_rows) as bigint) as n_source_rows,
        cast(coalesce(sum(n_events) filter (where outcome_kind = 'mapped'), 0) as bigint)
            as n_events_mapped,
        cast(coalesce(sum(n_codes) filter (where outcome_kind = 'mapped'), 0) as bigint)
            as n_codes_mapped,
        cast(coalesce(sum(n_source_rows) filter (where outcome_kind = 'mapped'), 0) as bigint)
            as n_source_rows_mapped,
        cast(coalesce(sum(n_events) filter (where mapping_level = 'exact'), 0) as bigint)
            as n_events_exact,
        cast(coalesce(sum(n_events) filter (where mapping_level = 'equivalent'), 0) as bigint)
            as n_events_by_map,
        cast(coalesce(sum(n_events) filter (where mapping_level = 'ancestor'), 0) as bigint)
            as n_events_broader
    from coverage
    group by
        source,
        event_type,
        code_system
),

unmapped as (
    select
        source,
        event_type,
        code_system,
        string_agg(outcome || ' ' || n_events, ', ' order by n_events desc, outcome)
            as unmapped_events
    from coverage
    where outcome_kind = 'unmapped'
    group by
        source,
        event_type,
        code_system
)

select
    counted.source,
    counted.event_type,
    counted.code_system,
    counted.n_events,
    counted.n_codes,
    counted.n_source_rows,
    {{ share('counted.n_events_mapped', 'counted.n_events') }} as share_events,
    {{ share('counted.n_codes_mapped', 'counted.n_codes') }} as share_codes,
    {{ share('counted.n_source_rows_mapped', 'counted.n_source_rows') }} as share_rows,
    {{ share('counted.n_events_exact', 'counted.n_events') }} as share_exact,
    {{ share('counted.n_events_by_map', 'counted.n_events') }} as share_by_map,
    {{ share('counted.n_events_broader', 'counted.n_events') }} as share_broader,
    unmapped.unmapped_events
from counted
left join unmapped
    on counted.source = unmapped.source
    and counted.event_type = unmapped.event_type
    and counted.code_system = unmapped.code_system
order by
    counted.source,
    counted.event_type,
    counted.n_events desc,
    counted.code_system
