{{ config(severity='warn') }}
-- Sources most of whose rows of a type name no visit that is there: they make no event, and the
-- visits want rebuilding before the source says anything.
select
    source,
    event_type,
    cast(sum(n_source_rows) as bigint) as n_rows,
    cast(sum(n_source_rows) filter (
        where set_aside_reason in ('no_visit', 'unknown_admission')
    ) as bigint) as n_rows_without_visit
from {{ ref('int_events_placed') }}
group by source, event_type
having
    2 * sum(n_source_rows) filter (
        where set_aside_reason in ('no_visit', 'unknown_admission')
    ) > sum(n_source_rows)
