-- The longest or shortest label, by characters and by words.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

options as (

    select * from {{ ref('int_surface_options') }}

),

{{ baseline_picks('B1', [
    ('longest', 'n_characters'),
    ('shortest', '-n_characters'),
    ('most_words', 'n_words'),
    ('fewest_words', '-n_words'),
]) }}

select * from picked
