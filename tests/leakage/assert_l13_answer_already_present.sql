-- Released px items whose answer the person had been coded with by the index discharge: the
-- concept, a relative of it, or a code of its ICD category, in any source. By times, not by visit
-- numbers.
with

released as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where released
        and task = 'px'

),

templates as (

    select * from {{ ref('fct_templates') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

visits as (

    select * from {{ ref('dim_visits') }}

),

events as (

    select * from {{ ref('fct_visit_events') }}
    where event_type = 'diagnosis'

),

mappings as (

    select
        event_key,
        cui,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

near as (

    select
        cui_id as one,
        relative_cui_id as other
    from {{ ref('int_concept_relatives') }}
    where relation <> 'same_class'

    union

    select
        relative_cui_id as one,
        cui_id as other
    from {{ ref('int_concept_relatives') }}
    where relation <> 'same_class'

),

answers as (

    select
        templates.template_key,
        templates.answer_cui,
        visits.person_group,
        visits.discharged_at,
        events.code_system,
        {{ icd_category('events.code_system', 'events.normalized_code') }} as category
    from released
    inner join templates
        on released.template_key = templates.template_key
    inner join triples
        on templates.triple_id = triples.triple_id
    inner join visits
        on triples.visit_key = visits.visit_key
    inner join events
        on templates.answer_event_key = events.event_key

),

answer_ids as (

    select distinct
        cui,
        cui_id
    from mappings

)

select distinct
    answers.template_key,
    events.event_key
from answers
left join answer_ids
    on answers.answer_cui = answer_ids.cui
inner join visits
    on answers.person_group = visits.person_group
    and answers.discharged_at >= visits.discharged_at
inner join events
    on visits.visit_key = events.visit_key
left join mappings
    on events.event_key = mappings.event_key
left join near
    on answer_ids.cui_id = near.one
    and mappings.cui_id = near.other
where answers.answer_cui = mappings.cui
    or near.one is not null
    or (
        answers.code_system = events.code_system
        and answers.category
            = {{ icd_category('events.code_system', 'events.normalized_code') }}
    )
