-- Items of the evaluation subset whose answer the scenario of another one prints: the subset is
-- asked as one batch and printed side by side.
with

subset as (

    select distinct template_key
    from {{ ref('dim_items') }}
    where in_subset

),

templates as (

    select * from {{ ref('fct_templates') }}

),

triples as (

    select * from {{ ref('fct_triples') }}

),

mappings as (

    select
        event_key,
        cui
    from {{ ref('brg_event_concepts') }}
    where cui is not null

),

asked as (

    select
        templates.template_key,
        templates.answer_cui,
        triples.visit_key,
        coalesce(triples.target_visit_key, triples.visit_key) as answer_visit_key,
        templates.scenario_event_keys
    from subset
    inner join templates
        on subset.template_key = templates.template_key
    inner join triples
        on templates.triple_id = triples.triple_id

),

printed as (

    select
        template_key,
        visit_key,
        unnest(string_split(scenario_event_keys, ',')) as event_key
    from asked

)

select distinct
    asked.template_key,
    printed.template_key as printed_by
from asked
inner join printed
    on asked.answer_visit_key = printed.visit_key
    and asked.template_key <> printed.template_key
inner join mappings
    on printed.event_key = mappings.event_key
    and asked.answer_cui = mappings.cui
