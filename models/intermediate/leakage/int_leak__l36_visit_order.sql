-- px templates whose target is no later inpatient visit of the same person that begins after the
-- index discharge and within the horizon, or whose two visits share an admission.
with

templates as (

    select * from {{ ref('int_templates') }}
    where task = 'px'

),

visits as (

    select * from {{ ref('dim_visits') }}

),

admissions as (

    select * from {{ ref('int_admissions_merged') }}

),

shared_admissions as (

    select distinct templates.template_key
    from templates
    inner join admissions as index_admissions
        on templates.visit_key = index_admissions.visit_key
    inner join admissions as target_admissions
        on templates.target_visit_key = target_admissions.visit_key
        and index_admissions.source = target_admissions.source
        and index_admissions.admission_id = target_admissions.admission_id

),

judged as (

    select
        templates.template_key,
        case
            when index_visits.visit_key is null or target_visits.visit_key is null
                then 'index or target visit unknown'
            when index_visits.person_group is distinct from target_visits.person_group
                then 'visits of two persons'
            when shared_admissions.template_key is not null then 'visits share an admission'
            when target_visits.visit_class is distinct from 'inpatient'
                then 'target is no inpatient visit'
            when target_visits.visit_number <= index_visits.visit_number
                then 'target is not the later visit'
            when (target_visits.admitted_at > index_visits.discharged_at) is not true
                then 'target begins before the index discharge'
            when target_visits.admitted_at
                > index_visits.discharged_at + to_days({{ var('px_horizon_days') }})
                then 'target begins after the horizon'
        end as evidence
    from templates
    left join visits as index_visits
        on templates.visit_key = index_visits.visit_key
    left join visits as target_visits
        on templates.target_visit_key = target_visits.visit_key
    left join shared_admissions
        on templates.template_key = shared_admissions.template_key

)

select
    'L36' as rule_id,
    'template' as scope,
    template_key,
    cast(null as varchar) as item_id,
    cast(null as varchar) as option_key,
    evidence
from judged
where evidence is not null
