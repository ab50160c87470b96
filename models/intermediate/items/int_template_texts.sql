-- One row per template: its scenario as items show it, and the same in plain words. Rendered items
-- take the text from here, so what a leak rule reads is what a model will see.
with

templates as (

    select * from {{ ref('int_template_forms') }}

),

scenario as (

    select * from {{ ref('int_form_scenario') }}

),

written as (

    select
        template_key,
        cast(count(*) - 1 as integer) as n_context,
        string_agg(line, chr(10) order by order_key, event_key) as scenario
    from scenario
    group by template_key

),

worded as (

    select
        templates.template_key,
        templates.template_number,
        written.n_context,
        written.scenario,
        {{ leak_words('written.scenario') }} as scenario_words
    from written
    inner join templates
        on written.template_key = templates.template_key

)

select * from worded
