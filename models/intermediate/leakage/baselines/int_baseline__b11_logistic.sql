-- The option that a logistic regression on surface features likes best.
with

templates as (

    select * from {{ ref('int_surface_templates') }}

),

surface_options as (

    select * from {{ ref('int_surface_options') }}

),

logistic as (

    select * from {{ ref('int_surface_logistic') }}

),

options as (

    select
        surface_options.template_key,
        surface_options.rank,
        surface_options.is_gold,
        logistic.score
    from surface_options
    inner join logistic
        on surface_options.template_key = logistic.template_key
        and surface_options.rank = logistic.rank

),

{{ baseline_picks('B11', [('likeliest', 'score')]) }}

select * from picked
