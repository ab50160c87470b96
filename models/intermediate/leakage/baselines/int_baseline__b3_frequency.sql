-- The concept of the most or the fewest visits of the source.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

options as (

    select * from {{ ref('int_surface_options') }}

),

{{ baseline_picks('B3', [
    ('most_frequent', 'n_visits'),
    ('least_frequent', '-n_visits'),
]) }}

select * from picked
