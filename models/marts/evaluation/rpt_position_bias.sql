-- Items under several orders of their options. Consistency, recall, choices and the prior of the
-- letters count items that are answered in all orders, where each option has stood at each place;
-- two answers agree more easily than four.
{%- set tail = var('bootstrap_tail') %}
{%- set letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] %}
{#- Half of the last digit that a probability has: what a letter without one is counted as. #}
{%- set least_share = 0.0000005 %}

with

requests as (

    select * from {{ ref('int_pooled_requests') }}
    where repetition = 1

),

scores as (

    select * from {{ ref('fct_scores') }}
    where repetition = 1

),

responses as (

    select * from {{ ref('fct_responses') }}

),

-- The order that the item is meant to have, and the rotated ones.
orders as (

    select
        arm,
        options = 'own' as is_own
    from {{ ref('prompt_arms') }}
    where options = 'rotated'
        or (options = 'own' and is_headline)

),

---------- asked

items_asked as (

    select
        requests.model,
        requests.mode,
        requests.n_options,
        requests.item_id,
        count(*) as n_orders,
        count(*) filter (where orders.is_own) as n_own
    from requests
    inner join orders
        on requests.arm = orders.arm
    group by
        requests.model,
        requests.mode,
        requests.n_options,
        requests.item_id

),

asked as (

    select
        model,
        mode,
        n_options,
        count(*) filter (where n_orders = n_options) as n_all,
        sum(n_own) as n_own,
        row_number() over (order by model, mode, n_options) as series
    from items_asked
    group by
        model,
        mode,
        n_options
    having count(*) filter (where n_orders >= 2) > 0

),

---------- answered

answers as (

    select
        asked.series,
        asked.n_options,
        scores.item_id,
        scores.template_key,
        scores.person_group,
        coalesce(scores.answer_cui_id, 0) as answer_cui_id,
        orders.is_own,
        scores.correct,
        scores.chosen_option_key,
        scores.gold_position,
        scores.chosen_position,
        case
            when greatest(
                {%- for letter in letters %}responses.p_{{ letter }}{{ ', ' if not loop.last }}
                {%- endfor %}) is not null
                then [
                    {%- for letter in letters %}
                    coalesce(cast(responses.p_{{ letter }} as double), 0.0)
                    {{- ',' if not loop.last }}
                    {%- endfor %}
                ]
        end as shares
    from scores
    inner join orders
        on scores.arm = orders.arm
    inner join responses
        on scores.request_key = responses.request_key
    inner join asked
        on scores.model = asked.model
        and scores.mode = asked.mode
        and scores.n_options = asked.n_options
    semi join items_asked
        on scores.model = items_asked.model
        and scores.mode = items_asked.mode
        and scores.item_id = items_asked.item_id

),

items as (

    select
        series,
        n_options,
        item_id,
        template_key,
        person_group,
        answer_cui_id,
        count(*) = n_options as is_whole,
        count(shares) = n_options as has_all_shares,
        count(chosen_option_key) = count(*) and count(distinct chosen_option_key) = 1
            as is_consistent,
        sum(correct) = count(*) as is_all_correct
    from answers
    group by
        series,
        n_options,
        item_id,
        template_key,
        person_group,
        answer_cui_id
    having count(*) >= 2

),

whole_answers as (

    select answers.*
    from answers
    semi join items
        on answers.series = items.series
        and answers.item_id = items.item_id
        and items.is_whole

),

places as (

    select cast(place as integer) as place
    from range(1, {{ letters | length + 1 }}) as counted (place)

),

---------- prior of the letters (PriDe)

log_shares as (

    select
        answers.series,
        answers.item_id,
        places.place,
        cast(sum(cast(round(1e12 * ln(
            greatest(answers.shares[places.place], {{ least_share }})
        )) as bigint)) as double) / 1e12 / max(answers.n_options) as log_share
    from whole_answers as answers
    inner join places
        on answers.n_options >= places.place
    where answers.shares is not null
    group by
        answers.series,
        answers.item_id,
        places.place

),

item_weights as (

    select
        *,
        cast(round(1e12 * exp(
            log_share - max(log_share) over (partition by series, item_id)
        )) as bigint) as weight
    from log_shares

),

item_priors as (

    select
        items.series,
        items.template_key,
        items.person_group,
        items.answer_cui_id,
        weights.place,
        cast(round(1e12 * (
            cast(weights.weight as double)
            / cast(sum(weights.weight) over (partition by items.series, items.item_id) as double)
        )) as bigint) as prior
    from item_weights as weights
    inner join items
        on weights.series = items.series
        and weights.item_id = items.item_id
    where items.has_all_shares

),

priors as (

    select
        series,
        place,
        cast(sum(prior) as double) / count(*) as prior,
        count(distinct template_key) as n_templates
    from item_priors
    group by
        series,
        place

),

-- Of letters that tie the first.
places_debiased as (

    select
        answers.series,
        answers.item_id,
        places.place,
        row_number() over (
            partition by
                answers.series,
                answers.item_id
            order by
                answers.shares[places.place] / priors.prior desc,
                places.place
        ) as choice_rank
    from answers
    inner join places
        on answers.n_options >= places.place
    inner join priors
        on answers.series = priors.series
        and places.place = priors.place
    where answers.is_own
        and answers.shares is not null

),

debiased as (

    select
        answers.*,
        cast(answers.gold_position = places_debiased.place as integer) as debiased_correct
    from answers
    inner join places_debiased
        on answers.series = places_debiased.series
        and answers.item_id = places_debiased.item_id
        and places_debiased.choice_rank = 1
    where answers.is_own

),

---------- figures that are means

figure_rows as (

    {%- for figure, relation, place, value, condition in [
        ('consistency', 'items', '0', 'cast(is_consistent as integer)', 'is_whole'),
        ('all_correct', 'items', '0', 'cast(is_all_correct as integer)', 'is_whole'),
        ('recall', 'whole_answers', 'gold_position', 'correct', 'true'),
        ('accuracy', 'debiased', '0', 'correct', 'true'),
        ('accuracy_debiased', 'debiased', '0', 'debiased_correct', 'true'),
        ('debiasing_gain', 'debiased', '0', 'debiased_correct - correct', 'true'),
    ] %}
    select
        series,
        '{{ figure }}' as figure,
        {{ place }} as place,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        cast({{ value }} as bigint) * 1000000000000 as value
    from {{ relation }}
    where {{ condition }}
    union all
    {%- endfor %}
    select
        answers.series,
        'choice_share' as figure,
        places.place,
        1 as part,
        answers.template_key,
        answers.person_group,
        answers.answer_cui_id,
        1 as n,
        cast(answers.chosen_position = places.place as bigint) * 1000000000000 as value
    from whole_answers as answers
    inner join places
        on answers.n_options >= places.place
    where answers.chosen_position is not null
    union all
    select
        series,
        'letter_prior' as figure,
        place,
        1 as part,
        template_key,
        person_group,
        answer_cui_id,
        1 as n,
        prior as value
    from item_priors

),

{{ figure_intervals('means_found', 'figure_rows', ['series', 'figure', 'place'],
    "means.figure <> 'debiasing_gain'") }},

---------- RStd: spread of the recalls over the places, persons drawn anew

drawable as (

    select
        series,
        gold_position as place,
        person_group,
        1 as n,
        correct as hits
    from whole_answers

),

{{ bootstrap_sums('draws', 'drawable', ['series', 'place']) }},

recalls_drawn as (

    select
        draws.replicate,
        draws.series,
        cast(draws.hits as double) / draws.n as recall,
        cast(answered.hits as double) / answered.n as recall_of_data
    from draws
    inner join draws as answered
        on draws.series = answered.series
        and draws.place = answered.place
        and answered.replicate = 0
    where draws.n > 0

),

spreads_drawn as (

    select
        replicate,
        series,
        stddev_pop(recall) as rstd,
        stddev_pop(recall - recall_of_data) as noise
    from recalls_drawn
    group by
        replicate,
        series

),

spreads as (

    select
        series,
        max(rstd) filter (where replicate = 0) as rstd,
        quantile_cont(rstd, {{ 1 - tail }}) filter (where replicate > 0) as rstd_high,
        stddev_samp(rstd) filter (where replicate > 0) as rstd_error,
        avg(noise) filter (where replicate > 0) as noise_mean,
        quantile_cont(noise, {{ 1 - tail }}) filter (where replicate > 0) as noise_high
    from spreads_drawn
    group by series

),

whole_counted as (

    select
        series,
        count(*) as n,
        count(distinct template_key) as n_templates,
        count(distinct person_group) as n_persons
    from items
    where is_whole
    group by series

),

figures as (

    select * from means_found

    union all by name

    select
        whole_counted.series,
        'rstd' as figure,
        0 as place,
        whole_counted.n,
        whole_counted.n_templates,
        whole_counted.n_persons,
        spreads.rstd as mean,
        {%- for side in ['low', 'high'] %}
        case when whole_counted.n_persons >= 2 then {{ norm_interval(
            'spreads.rstd', 'spreads.rstd_high', 'spreads.rstd_error',
            'spreads.noise_mean', 'spreads.noise_high', side, 0.5
        ) }} end as {{ side }}{{ ',' if not loop.last }}
        {%- endfor %}
    from whole_counted
    inner join spreads
        on whole_counted.series = spreads.series

),

---------- report

wanted as (

    select
        asked.*,
        names.figure,
        places.place,
        case
            when names.figure = 'choice_share' then asked.n_all * asked.n_options
            when names.needs = 'own' then asked.n_own
            else asked.n_all
        end as figure_asked,
        names.needs
    from asked
    cross join (values
        ('consistency', false, 'orders'), ('all_correct', false, 'orders'),
        ('rstd', false, 'orders'), ('recall', true, 'orders'), ('choice_share', true, 'orders'),
        ('letter_prior', true, 'shares'), ('accuracy', false, 'own'),
        ('accuracy_debiased', false, 'own'), ('debiasing_gain', false, 'own')
    ) as names (figure, is_by_place, needs)
    inner join (select 0 as place union all select place from places) as places
        on (not names.is_by_place and places.place = 0)
        or (names.is_by_place and places.place between 1 and asked.n_options)

),

shares_known as (

    select
        series,
        count(shares) > 0 as has_shares
    from answers
    group by series

),

judged as (

    select
        wanted.*,
        figures.n,
        figures.n_templates,
        figures.n_persons,
        figures.mean,
        figures.low,
        figures.high,
        case
            when figures.n is null and wanted.needs <> 'orders'
                and not coalesce(shares_known.has_shares, false)
                then 'no_probabilities'
            when figures.n is null then 'no_permutations'
            when least(
                figures.n_templates,
                case when wanted.needs = 'own' then priors.n_templates else figures.n_templates end
            ) < {{ var('evaluation_min_templates') }} then 'few_templates'
        end as reason
    from wanted
    left join figures
        on wanted.series = figures.series
        and wanted.figure = figures.figure
        and wanted.place = figures.place
    left join shares_known
        on wanted.series = shares_known.series
    left join priors
        on wanted.series = priors.series
        and priors.place = 1

),

final as (

    select
        ---------- ids
        model,
        mode,
        n_options,
        figure,
        cast(place as integer) as place,

        ---------- counts
        cast(coalesce(n, 0) as integer) as n,
        cast(figure_asked as integer) as n_asked,
        cast(coalesce(n_templates, 0) as integer) as n_templates,
        cast(coalesce(n_persons, 0) as integer) as n_clusters,

        ---------- figure
        case when reason is null then {{ rounded_share('mean') }} end as estimate,
        case when reason is null then {{ rounded_share('low') }} end as estimate_low,
        case when reason is null then {{ rounded_share('high') }} end as estimate_high,
        case
            when figure in ('choice_share', 'letter_prior', 'accuracy', 'accuracy_debiased')
                then {{ rounded_share('1.0 / n_options') }}
        end as uniform,
        case when reason is null then 'estimable' else 'not_estimable' end as status,
        reason
    from judged

)

select * from final
