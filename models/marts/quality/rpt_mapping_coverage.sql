with

events as (

    select * from {{ ref('fct_visit_events') }}

),

first_concepts as (

    select * from {{ ref('brg_event_concepts') }}
    where rank = 1

),

-- What an order text becomes when it is mapped is no code system of the source.
outcomes as (

    select
        events.source,
        events.event_type,
        case when events.event_type = 'medication' then 'DRUG_TEXT' else events.code_system end
            as code_system,
        events.normalized_code,
        events.is_status_code,
        events.n_source_rows,
        case when first_concepts.cui_id is null then 'unmapped' else 'mapped' end as outcome_kind,
        case
            when first_concepts.cui_id is null then first_concepts.reason
            else first_concepts.mapping_method
        end as outcome,
        first_concepts.mapping_level
    from events
    left join first_concepts
        on events.event_key = first_concepts.event_key

),

classed as (

    select
        *,
        'all' as code_class
    from outcomes
    union all
    select
        *,
        'clinical' as code_class
    from outcomes
    where not is_status_code

),

totals as (

    select
        source,
        event_type,
        code_system,
        code_class,
        count(*) as n_events,
        count(distinct normalized_code) as n_codes,
        cast(sum(n_source_rows) as bigint) as n_source_rows
    from classed
    group by source, event_type, code_system, code_class

),

counted as (

    select
        source,
        event_type,
        code_system,
        code_class,
        outcome_kind,
        outcome,
        mapping_level,
        count(*) as n_events,
        count(distinct normalized_code) as n_codes,
        cast(sum(n_source_rows) as bigint) as n_source_rows
    from classed
    group by source, event_type, code_system, code_class, outcome_kind, outcome, mapping_level
    union all
    select
        source,
        event_type,
        code_system,
        code_class,
        'total' as outcome_kind,
        outcome_kind as outcome,
        'total' as mapping_level,
        count(*) as n_events,
        count(distinct normalized_code) as n_codes,
        cast(sum(n_source_rows) as bigint) as n_source_rows
    from classed
    group by source, event_type, code_system, code_class, classed.outcome_kind

)

select
    counted.source,
    counted.event_type,
    counted.code_system,
    counted.code_class,
    counted.outcome_kind,
    counted.outcome,
    counted.mapping_level,
    counted.n_events,
    counted.n_codes,
    counted.n_source_rows,
    {{ share('counted.n_events', 'totals.n_events') }} as share_events,
    {{ share('counted.n_codes', 'totals.n_codes') }} as share_codes,
    {{ share('counted.n_source_rows', 'totals.n_source_rows') }} as share_rows
from counted
inner join totals
    on counted.source = totals.source
    and counted.event_type = totals.event_type
    and counted.code_system = totals.code_system
    and counted.code_class = totals.code_class
