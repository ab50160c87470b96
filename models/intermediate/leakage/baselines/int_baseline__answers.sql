with

scores as (

    select * from {{ ref('fct_scores') }}

),

arms as (

    select * from {{ ref('prompt_arms') }}
    where baseline is not null

),

items as (

    select * from {{ ref('dim_items') }}

),

models as (

    select * from {{ ref('models') }}
    where engine <> 'sql'

),

answered as (

    select
        arms.baseline,
        arms.arm as pick,
        scores.model,
        scores.template_key,
        scores.n_options,
        items.variant,
        cast(sum(scores.correct) as decimal(9, 6)) as n_correct,
        cast(count(*) as integer) as n_answered,
        cast(null as decimal(9, 6)) as concordance
    from scores
    inner join arms
        on scores.arm = arms.arm
    inner join models
        on scores.model = models.model
    inner join items
        on scores.item_id = items.item_id
    group by
        arms.baseline,
        arms.arm,
        scores.model,
        scores.template_key,
        scores.n_options,
        items.variant

)

select * from answered
