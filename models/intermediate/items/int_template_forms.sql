-- One row per form of a template: itself, and of an md5 sample its wide form, which shows all
-- context events that a triple keeps. Leak rules judge both forms alike; pools, caps, draws and
-- releases read the templates themselves. A wide form has a key and a number of its own.
with

templates as (

    select * from {{ ref('int_templates') }}

),

triple_events as (

    select * from {{ ref('fct_triple_events') }}

),

-- Positions have no gaps, so the last one says that the others are there.
widest as (

    select triple_id
    from triple_events
    where role = 'context'
        and position = {{ var('max_context_events') }}
        and position > {{ var('context_events') }}

),

-- In the order in which the evaluation subset is drawn, so that most of its templates are here.
sampled as (

    select templates.*
    from templates
    semi join widest
        on templates.triple_id = widest.triple_id
    qualify row_number() over (
        partition by templates.source, templates.task, templates.needs_completion
        order by {{ key(["'" ~ var('subset_seed') ~ "'", 'templates.template_key']) }},
            templates.template_key
    ) <= {{ var('wide_templates_per_task') }}

),

forms as (

    select
        *,
        cast(null as varchar) as of_template_key
    from templates

    union all

    select
        * replace (
            {{ key(['template_key', "'wide'"]) }} as template_key,
            -template_number as template_number
        ),
        template_key as of_template_key
    from sampled

)

select * from forms
