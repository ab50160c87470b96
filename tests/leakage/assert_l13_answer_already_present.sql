-- Released px items whose answer the person had been coded with by the index discharge: the
-- concept, a relative of it, or a code of the ICD category of its own or of another code that
-- stands for it, in any source. By times, not by visit numbers.
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

concept_codes as (

    select * from {{ ref('int_leak_concept_codes') }}

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
        events.normalized_code
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

),

categories as (

    select
        template_key,
        code_system,
        {{ icd_category('code_system', 'normalized_code') }} as category
    from answers

    union

    select
        answers.template_key,
        concept_codes.code_system,
        {{ icd_category('concept_codes.code_system', 'concept_codes.normalized_code') }} as category
    from answers
    inner join answer_ids
        on answers.answer_cui = answer_ids.cui
    inner join concept_codes
        on answer_ids.cui_id = concept_codes.cui_id

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
left join categories
    on answers.template_key = categories.template_key
    and events.code_system = categories.code_system
    and {{ icd_category('events.code_system', 'events.normalized_code') }} = categories.category
where answers.answer_cui = mappings.cui
    or near.one is not null
    or categories.template_key is not null
