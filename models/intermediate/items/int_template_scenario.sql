{{ config(materialized='view') }}

-- The scenario that a template's items show; its wide form is read by the leak rules and shown by the
-- arms with more context.
with

form_scenario as (

    select * from {{ ref('int_form_scenario') }}

),

own as (

    select
        template_key,
        position,
        event_key,
        event_type,
        order_key,
        label,
        line
    from form_scenario
    where is_own

)

select * from own
