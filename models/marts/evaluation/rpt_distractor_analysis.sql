-- Who chooses what. A distractor that next to no model chooses does not function: the item is as
-- easy as one without it.
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

options as (

    select * from {{ ref('fct_item_options') }}

),

answer_keys as (

    select * from {{ ref('fct_answer_keys') }}

),

asked as (

    select
        requests.mode,
        requests.item_id,
        requests.template_key,
        requests.task,
        requests.source,
        count(*) as n_asked
    from requests
    semi join models
        on requests.model = models.model
    group by all

),

chosen as (

    select
        scores.mode,
        scores.item_id,
        scores.chosen_option_key,
        count(*) as n_chosen
    from scores
    semi join models
        on scores.model = models.model
    group by
        scores.mode,
        scores.item_id,
        scores.chosen_option_key

),

-- A reply without a letter chooses nothing, and counts.
answered as (

    select
        mode,
        item_id,
        sum(n_chosen) as n
    from chosen
    group by
        mode,
        item_id

),

shared as (

    select
        asked.*,
        options.option_letter,
        options.option_key,
        options.option_key = answer_keys.gold_option_key as is_answer,
        coalesce(answered.n, 0) as n,
        coalesce(chosen.n_chosen, 0) as n_chosen,
        coalesce(answered.n, 0) >= {{ var('item_analysis_min_models') }} as is_estimable
    from asked
    inner join options
        on asked.item_id = options.item_id
    inner join answer_keys
        on asked.item_id = answer_keys.item_id
    left join answered
        on asked.mode = answered.mode
        and asked.item_id = answered.item_id
    left join chosen
        on asked.mode = chosen.mode
        and asked.item_id = chosen.item_id
        and options.option_key = chosen.chosen_option_key

),

distractor_analysis as (

    select
        ---------- ids
        mode,
        item_id,
        option_letter,
        option_key,
        template_key,
        task,
        source,
        is_answer,

        ---------- counts
        cast(n_chosen as integer) as n_chosen,
        cast(n as integer) as n,
        cast(n_asked as integer) as n_asked,

        ---------- figures
        case when is_estimable then {{ share('n_chosen', 'n') }} end as chosen_share,
        case when is_estimable then {{ wilson_bound('n_chosen', 'n', 'low') }} end
            as chosen_share_low,
        case when is_estimable then {{ wilson_bound('n_chosen', 'n', 'high') }} end
            as chosen_share_high,

        ---------- state
        case when is_estimable and not is_answer then
            n_chosen < {{ var('non_functioning_share') }} * n
        end as is_non_functioning,
        case when is_estimable then 'estimable' else 'not_estimable' end as status
    from shared

)

select * from distractor_analysis
