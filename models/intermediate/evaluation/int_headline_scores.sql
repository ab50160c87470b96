{{ config(materialized='view') }}

-- Scores that the leaderboard and its relatives report: headline arms, first repetition, sources
-- that are pooled. Grain of fct_scores.
with

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

arms as (

    select * from {{ ref('prompt_arms') }}
    where is_headline

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

headline as (

    select scores.*
    from scores
    semi join arms
        on scores.arm = arms.arm
    semi join pooled_sources
        on scores.source = pooled_sources.source

)

select * from headline
