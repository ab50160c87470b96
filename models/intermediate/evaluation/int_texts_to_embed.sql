-- One row per text that baseline B6 compares: labels of options and of scenario events of released
-- templates. A scenario is the mean of its lines, so no whole scenario needs a vector: labels are a
-- few thousand however many items there are.
with

templates as (

    select distinct template_key
    from {{ ref('int_surface_templates') }}

),

options as (

    select * from {{ ref('int_leak_options') }}

),

option_labels as (

    select * from {{ ref('int_option_labels') }}

),

lines as (

    select * from {{ ref('int_template_scenario') }}

),

option_keys as (

    select distinct options.option_key
    from options
    inner join templates
        on options.template_key = templates.template_key

),

texts as (

    select option_labels.label as text
    from option_keys
    inner join option_labels
        on option_keys.option_key = option_labels.option_key

    union

    select lines.label as text
    from lines
    inner join templates
        on lines.template_key = templates.template_key

)

select
    md5(text) as text_key,
    text
from texts
