-- The option that comes first in md5 order: chance made visible, and a check on the intervals.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

options as (

    select * from {{ ref('int_surface_options') }}

),

{{ baseline_picks('B0', [
    ('random', md5_integer(key(['template_key', 'option_key', "'random'"]))),
]) }}

select * from picked
