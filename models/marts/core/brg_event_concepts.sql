with

events as not materialized (

    select * from {{ ref('fct_visit_events') }}

),

code_concepts as (

    select * from {{ ref('int_code_concepts') }}

),

combination_parts as (

    select * from {{ ref('int_combination_parts') }}

),

coded_events as (

    select
        events.event_key,
        code_concepts.cui_id,
        coalesce(code_concepts.rank, 1) as concept_rank,
        coalesce(code_concepts.mapping_method, 'none') as mapping_method,
        coalesce(code_concepts.mapping_level, 'none') as mapping_level,
        case
            when code_concepts.cui_id is null then coalesce(code_concepts.reason, 'no_concept')
        end as reason
    from events
    left join code_concepts
        on events.code_system = code_concepts.code_system
        and events.normalized_code = code_concepts.normalized_code
    where events.event_type in ('diagnosis', 'procedure')

),

medication_events as (

    select
        event_key,
        drug_cui_id as cui_id,
        1 as concept_rank,
        drug_mapping_method as mapping_method,
        case when drug_cui_id is null then 'none' else 'exact' end as mapping_level,
        drug_unmapped_reason as reason
    from events
    where event_type = 'medication'

),

combination_events as (

    select
        events.event_key,
        combination_parts.part_cui_id as cui_id,
        1 + row_number() over (
            partition by events.event_key
            order by combination_parts.part_cui_id
        ) as concept_rank,
        events.drug_mapping_method as mapping_method,
        'part' as mapping_level,
        cast(null as varchar) as reason
    from events
    inner join combination_parts
        on events.drug_cui_id = combination_parts.combination_cui_id
    where events.is_combination

),

united as (

    select * from coded_events
    union all
    select * from medication_events
    union all
    select * from combination_events

)

select
    event_key,
    case when cui_id is not null then {{ cui_text('cui_id') }} end as cui,
    cui_id,
    cast(concept_rank as integer) as rank,
    mapping_method,
    mapping_level,
    reason
from united
