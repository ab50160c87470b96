-- The option that was most or least often the answer when shown in the other half of the templates
-- (split_half of int_surface_templates).
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

options as (

    select * from {{ ref('int_surface_options') }}

),

{{ baseline_picks('B4', [
    ('most_popular', 'popularity'),
    ('least_popular', '-popularity'),
]) }}

select * from picked
