{%- set letters = ['a', 'b', 'c', 'd', 'e', 'f'] %}

with

requests as (

    select * from {{ ref('fct_requests') }}
    where stage = 'answers'

),

items as (

    select * from {{ ref('dim_items') }}

),

completions as (

    select * from {{ ref('int_completions_latest') }}
    where is_success
        or is_too_long

),

baseline_completions as (

    select * from {{ ref('int_baseline_completions') }}

),

completions_united as (

    select request_key, text, finish_reason, option_logprobs, is_too_long from completions
    union all
    select
        request_key,
        text,
        finish_reason,
        option_logprobs,
        false as is_too_long
    from baseline_completions

),

answered as (

    select
        requests.request_key,
        requests.model,
        requests.mode,
        requests.repetition,
        requests.item_id,
        items.n_options,
        completions_united.text,
        completions_united.is_too_long,
        completions_united.finish_reason,
        {{ parse_choice('completions_united.text', 'items.n_options') }} as choice,
        case
            when json_valid(completions_united.option_logprobs)
                then completions_united.option_logprobs
        end as option_logprobs
    from requests
    inner join completions_united
        on requests.request_key = completions_united.request_key
    inner join items
        on requests.item_id = items.item_id

),

logprobs_read as (

    select
        *,
        {%- for letter in letters %}
        case
            when n_options >= {{ loop.index }}
                then try_cast(
                    json_extract_string(option_logprobs, '$.{{ letter | upper }}') as double
                )
        end as logprob_{{ letter }}{{ ',' if not loop.last }}
        {%- endfor %}
    from answered

),

logprobs_summed as (

    select
        *,
        greatest(
            {%- for letter in letters %}logprob_{{ letter }}{{ ', ' if not loop.last }}
            {%- endfor %}) as best_logprob
    from logprobs_read

),

weighed as (

    select
        *,
        {%- for letter in letters %}
        exp(logprob_{{ letter }} - best_logprob) as weight_{{ letter }}{{ ',' if not loop.last }}
        {%- endfor %}
    from logprobs_summed

),

totalled as (

    select
        *,
        {% for letter in letters -%}
        coalesce(weight_{{ letter }}, 0.0){{ ' + ' if not loop.last }}
        {%- endfor %} as total_weight
    from weighed

),

responses as (

    select
        ---------- ids
        request_key,
        model,
        mode,
        repetition,
        item_id,

        ---------- reply
        text as raw_completion,

        ---------- letter
        case when not is_too_long then choice.letter end as parsed_letter,
        case
            when is_too_long then 'too_long'
            when finish_reason = 'length' and choice.letter is null then 'truncated'
            else choice.status
        end as parse_status,
        case when is_too_long then 'none' else choice.rule end as parse_rule,

        ---------- probabilities
        {%- for letter in letters %}
        {{ rounded_share('weight_' ~ letter ~ ' / total_weight') }} as p_{{ letter }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from totalled

)

select * from responses
