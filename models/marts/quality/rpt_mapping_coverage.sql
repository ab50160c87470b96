with

events as (

    select * from {{ ref('fct_visit_events') }}

),

first_concepts as (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1

),

counted as (

    select
        events.source,
        events.event_type,
        events.code_system,
        count(*) as n_events,
        count(first_concepts.cui_id) as n_mapped,
        count(*) filter (where first_concepts.mapping_level = 'exact') as n_exact,
        count(*) filter (where first_concepts.mapping_level = 'equivalent') as n_equivalent,
        count(*) filter (where first_concepts.mapping_level = 'ancestor') as n_ancestor,
        count(*) filter (where not events.is_status_code) as n_clinical,
        count(first_concepts.cui_id) filter (where not events.is_status_code)
            as n_clinical_mapped,
        cast(sum(events.n_source_rows) as bigint) as n_source_rows,
        cast(coalesce(sum(events.n_source_rows)
            filter (where first_concepts.cui_id is not null), 0) as bigint)
            as n_source_rows_mapped
    from events
    left join first_concepts
        on events.event_key = first_concepts.event_key
    group by events.source, events.event_type, events.code_system

)

select
    source,
    event_type,
    code_system,
    n_events,
    n_mapped,
    n_exact,
    n_equivalent,
    n_ancestor,
    n_clinical,
    n_clinical_mapped,
    n_source_rows,
    n_source_rows_mapped,
    {{ share('n_mapped', 'n_events') }} as share_mapped,
    {{ share('n_exact', 'n_events') }} as share_exact,
    {{ share('n_clinical_mapped', 'n_clinical') }} as share_clinical_mapped,
    {{ share('n_source_rows_mapped', 'n_source_rows') }} as share_rows_mapped
from counted
