{{ config(materialized='view') }}

-- The placed rows with their final code, label and flags. Non-drugs leave here, with a reason.
-- An order takes all of these from int_drug_orders_mapped, a code from the terminology.
with

events as (

    select * from {{ ref('int_events_placed') }}

),

drug_orders as (

    select * from {{ ref('int_drug_orders_mapped') }}

),

code_flags as (

    select * from {{ ref('int_code_flags') }}

),

code_titles as (

    select * from {{ ref('int_icd_titles') }}

),

code_concepts as (

    -- A code without a title anywhere is shown by the name of its first concept.
    select
        code_concepts.code_system,
        code_concepts.normalized_code,
        code_concepts.procedure_role,
        concepts.name
    from {{ ref('int_code_concepts') }} as code_concepts
    left join {{ ref('int_concepts') }} as concepts
        on code_concepts.cui_id = concepts.cui_id
    where code_concepts.rank = 1

)

select
    events.source,
    events.visit_key,
    events.event_type,
    coalesce(drug_orders.code_system, events.code_system) as code_system,
    events.source_code,
    coalesce(drug_orders.normalized_code, events.normalized_code) as normalized_code,
    coalesce(
        drug_orders.label,
        events.source_label,
        code_titles.title,
        code_concepts.name,
        events.normalized_code
    ) as label,
    events.first_at,
    events.seq_num,
    events.n_source_rows,
    coalesce(code_flags.is_status_code, false) as is_status_code,
    case when events.event_type = 'medication' then drug_orders.is_routine else false end
        as is_routine,
    coalesce(code_titles.is_residual_title, false) as is_residual_title,
    coalesce(code_flags.is_hindsight, false) as is_hindsight,
    code_concepts.procedure_role,
    case when events.event_type = 'medication' then drug_orders.is_combination else false end
        as is_combination,
    drug_orders.cui_id as drug_cui_id,
    drug_orders.mapping_method as drug_mapping_method,
    drug_orders.unmapped_reason as drug_unmapped_reason,
    coalesce(events.set_aside_reason, drug_orders.set_aside_reason) as set_aside_reason
from events
left join drug_orders
    on events.event_type = 'medication'
    and events.source_code = drug_orders.drug_text
    and events.ndc is not distinct from drug_orders.ndc
    and events.route is not distinct from drug_orders.route
left join code_flags
    on events.event_type <> 'medication'
    and events.code_system = code_flags.code_system
    and events.normalized_code = code_flags.normalized_code
left join code_titles
    on events.event_type <> 'medication'
    and events.code_system = code_titles.code_system
    and events.normalized_code = code_titles.normalized_code
left join code_concepts
    on events.event_type <> 'medication'
    and events.code_system = code_concepts.code_system
    and events.normalized_code = code_concepts.normalized_code
