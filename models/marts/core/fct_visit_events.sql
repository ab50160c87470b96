with

events as (

    select * from {{ ref('int_events_mapped') }}

),

administrations as (

    select * from {{ ref('int_administrations_mapped') }}

),

recorded_visits as (

    select distinct visit_key
    from administrations

),

deduplicated as (

    select
        visit_key,
        source,
        event_type,
        code_system,
        normalized_code,
        min(source_code) as source_code,
        min(label) as label,
        min(first_at) as first_at,
        min(seq_num) as seq_num,
        cast(sum(n_source_rows) as integer) as n_source_rows,
        bool_or(is_status_code) as is_status_code,
        -- One order outside the order sets makes the drug a decision.
        bool_and(is_routine) as is_routine,
        bool_or(is_residual_title) as is_residual_title,
        bool_or(is_hindsight) as is_hindsight,
        min(procedure_role) as procedure_role,
        bool_or(is_combination) as is_combination,
        min(drug_cui_id) as drug_cui_id,
        min(drug_mapping_method) as drug_mapping_method,
        min(drug_unmapped_reason) as drug_unmapped_reason
    from events
    where set_aside_reason is null
    group by visit_key, source, event_type, code_system, normalized_code

)

select
    {{ key(['deduplicated.source', 'deduplicated.visit_key', 'deduplicated.event_type',
        'deduplicated.code_system', 'deduplicated.normalized_code']) }} as event_key,
    deduplicated.visit_key,
    deduplicated.source,
    deduplicated.event_type,
    deduplicated.code_system,
    deduplicated.source_code,
    deduplicated.normalized_code,
    deduplicated.label,
    deduplicated.first_at,
    deduplicated.seq_num,
    deduplicated.n_source_rows,
    deduplicated.is_status_code,
    deduplicated.is_routine,
    deduplicated.is_residual_title,
    deduplicated.is_hindsight,
    deduplicated.procedure_role,
    case
        when deduplicated.event_type <> 'medication' then 'unknown'
        when administrations.n_administered > 0 then 'administered'
        when recorded_visits.visit_key is not null then 'ordered_only'
        else 'unknown'
    end as administration,
    deduplicated.is_combination,
    deduplicated.drug_cui_id,
    deduplicated.drug_mapping_method,
    deduplicated.drug_unmapped_reason
from deduplicated
left join administrations
    on deduplicated.event_type = 'medication'
    and deduplicated.visit_key = administrations.visit_key
    and deduplicated.normalized_code = administrations.normalized_code
left join recorded_visits
    on deduplicated.event_type = 'medication'
    and deduplicated.visit_key = recorded_visits.visit_key
