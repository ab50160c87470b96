-- Codes of the conditions and procedures of OMOP sites. ICD titles come from the dictionaries;
-- other systems are known by the names that the site gives.
with events as (

    select * from {{ ref('int_omop__events') }}
    where
        set_aside_reason is null
        and event_type in ('diagnosis', 'procedure')

),

code_systems as (

    select * from {{ ref('icd_code_systems') }}

),

codes as (

    select
        events.code_system,
        events.normalized_code,
        min(case when code_systems.code_system is null then events.source_label end) as label,
        true as is_coded,
    from events
    left join code_systems
        on events.code_system = code_systems.code_system
    group by all

)

select * from codes
