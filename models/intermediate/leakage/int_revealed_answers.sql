-- One row per template whose answer another template prints: the other's scenario is of the
-- answer's stay (px: that of the target visit), in whichever source, and shows an event with the
-- answer's concept.
with

templates as (

    select * from {{ ref('int_templates') }}

),

stays as (

    select * from {{ ref('int_overlapping_stays') }}

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

placed as (

    select
        templates.template_key,
        templates.answer_cui_id,
        coalesce(shown_stays.stay_key, templates.visit_key) as shown_stay_key,
        coalesce(
            answer_stays.stay_key, templates.target_visit_key, templates.visit_key
        ) as answer_stay_key
    from templates
    left join stays as shown_stays
        on templates.visit_key = shown_stays.visit_key
    left join stays as answer_stays
        on coalesce(templates.target_visit_key, templates.visit_key) = answer_stays.visit_key

),

printed as (

    select distinct
        placed.shown_stay_key as stay_key,
        placed.template_key,
        mappings.cui_id
    from scenario
    inner join placed
        on scenario.template_key = placed.template_key
    inner join mappings
        on scenario.event_key = mappings.event_key

),

revealed as (

    select
        placed.template_key,
        printed.template_key as printed_by
    from placed
    inner join printed
        on placed.answer_stay_key = printed.stay_key
        and placed.answer_cui_id = printed.cui_id
        and placed.template_key <> printed.template_key

)

select * from revealed
