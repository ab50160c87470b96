-- One row per template whose answer another template prints: the other's scenario is of the
-- answer's visit (px: the target visit) and shows an event with the answer's concept.
with

templates as (

    select * from {{ ref('int_templates') }}

),

scenario as (

    select * from {{ ref('int_template_scenario') }}

),

mappings as (

    select
        event_key,
        cui_id
    from {{ ref('brg_event_concepts') }}
    where cui_id is not null

),

printed as (

    select distinct
        templates.visit_key,
        templates.template_key,
        mappings.cui_id
    from scenario
    inner join templates
        on scenario.template_key = templates.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key

),

revealed as (

    select
        templates.template_key,
        printed.template_key as printed_by
    from templates
    inner join printed
        on coalesce(templates.target_visit_key, templates.visit_key) = printed.visit_key
        and templates.answer_cui_id = printed.cui_id
        and templates.template_key <> printed.template_key

)

select * from revealed
