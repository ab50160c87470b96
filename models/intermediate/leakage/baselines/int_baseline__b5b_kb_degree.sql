-- The concept with the most or the fewest statements in the knowledge base, whatever they say.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

options as (

    select * from {{ ref('int_surface_options') }}

),

{{ baseline_picks('B5b', [
    ('most_statements', 'n_statements'),
    ('fewest_statements', '-n_statements'),
]) }}

select * from picked
