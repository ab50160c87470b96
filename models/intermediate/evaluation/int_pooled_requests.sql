{{ config(materialized='view') }}

-- Multiple-choice requests of the sources that are pooled, answered or not: what the reports on
-- single arms count as asked. Grain: one row per request. Holds no text and no gold.
with

requests as (

    select * from {{ ref('int_answer_requests') }}
    where format = 'mcq'

),

items as (

    select
        item_id,
        source
    from {{ ref('dim_items') }}

),

arms as (

    select
        arm,
        is_headline
    from {{ ref('prompt_arms') }}

),

pooled_sources as (

    select * from {{ ref('int_pooled_sources') }}
    where is_pooled

),

pooled as (

    select
        requests.request_key,
        requests.model,
        requests.mode,
        requests.arm,
        arms.is_headline,
        requests.repetition,
        requests.item_id,
        requests.template_key,
        requests.task,
        items.source,
        requests.n_options
    from requests
    inner join arms
        on requests.arm = arms.arm
    inner join items
        on requests.item_id = items.item_id
    semi join pooled_sources
        on items.source = pooled_sources.source

)

select * from pooled
