-- Released items with a scenario line that is no event of the index visit, or an answer that is no
-- event of its visit with the answer's concept, all of the patient of the template. Lines are read
-- from the text.
with

released as (

    select distinct
        template_key,
        task,
        scenario
    from {{ ref('dim_items') }}
    where released

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

),

words as (

    select * from {{ ref('event_type_words') }}

),

mappings as (

    select * from {{ ref('brg_event_concepts') }}

),

placed as (

    select
        released.template_key,
        released.scenario,
        templates.patient_key,
        templates.answer_event_key,
        templates.answer_cui,
        triples.visit_key,
        coalesce(triples.target_visit_key, triples.visit_key) as answer_visit_key
    from released
    left join templates
        on released.template_key = templates.template_key
    left join triples
        on templates.triple_id = triples.triple_id

),

lines as (

    select
        template_key,
        visit_key,
        patient_key,
        unnest(string_split(scenario, chr(10))) as line
    from placed

),

record_lines as (

    select distinct
        events.visit_key,
        visits.patient_key,
        concat('- ', words.word, ': ', {{ render_label('events.label') }}) as line
    from events
    inner join (select distinct visit_key from placed) as asked_visits
        on events.visit_key = asked_visits.visit_key
    inner join visits
        on events.visit_key = visits.visit_key
    inner join words
        on events.event_type = words.event_type

)

select
    lines.template_key,
    'scenario' as found_by
from lines
left join record_lines
    on lines.visit_key = record_lines.visit_key
    and lines.patient_key = record_lines.patient_key
    and lines.line = record_lines.line
where record_lines.line is null

union

select
    placed.template_key,
    'answer' as found_by
from placed
left join events
    on placed.answer_event_key = events.event_key
    and placed.answer_visit_key = events.visit_key
left join visits
    on events.visit_key = visits.visit_key
    and placed.patient_key = visits.patient_key
left join mappings
    on events.event_key = mappings.event_key
    and placed.answer_cui = mappings.cui
where visits.visit_key is null
    or mappings.event_key is null
