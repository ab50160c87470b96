-- What each model has of each template that it is asked: the share of right answers over option
-- counts, since items of one template are no independent questions. Baselines are no respondents.
-- Grain: mode × model × template.
with

scores as (

    select * from {{ ref('int_headline_scores') }}

),

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1
        and is_headline

),

models as (

    select * from {{ ref('models') }}
    where kind not in ('baseline', 'embedding')

),

asked as (

    select
        requests.mode,
        requests.model,
        requests.template_key,
        requests.task,
        requests.source,
        count(*) as n_asked
    from requests
    semi join models
        on requests.model = models.model
    group by all

),

answered as (

    select
        mode,
        model,
        template_key,
        count(*) as n,
        sum(correct) as n_correct
    from scores
    group by
        mode,
        model,
        template_key

),

template_scores as (

    select
        asked.mode,
        asked.model,
        asked.template_key,
        asked.task,
        asked.source,
        cast(asked.n_asked as integer) as n_asked,
        cast(coalesce(answered.n, 0) as integer) as n,
        -- in billionths
        cast(answered.n_correct * 1000000000 // answered.n as bigint) as score
    from asked
    left join answered
        on asked.mode = answered.mode
        and asked.model = answered.model
        and asked.template_key = answered.template_key

)

select * from template_scores
