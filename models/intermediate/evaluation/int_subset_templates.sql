-- Templates of the evaluation subset that pooled figures count, with what they are clustered by.
-- Grain: one row per template × option count.
with

items as (

    select * from {{ ref('dim_items') }}
    where in_subset
        and released
        and format = 'mcq'

),

templates as (

    select * from {{ ref('int_templates') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

subset as (

    select distinct
        items.template_key,
        items.source,
        items.task,
        items.n_options,
        templates.person_group,
        templates.answer_cui_id
    from items
    inner join templates
        on items.template_key = templates.template_key
    semi join pooled_sources
        on items.source = pooled_sources.source

)

select * from subset
