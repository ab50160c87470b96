{%- set letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] %}

with

requests as (

    select * from {{ ref('int_answer_requests') }}

),

arms as (

    select * from {{ ref('prompt_arms') }}

),

item_options as (

    select * from {{ ref('fct_item_options') }}

),

arm_options as (

    select * from {{ ref('int_arm_options') }}

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

    select
        request_key,
        text,
        finish_reason,
        option_logprobs,
        prompt_tokens,
        completion_tokens,
        latency_ms,
        is_too_long
    from completions
    union all
    select
        request_key,
        text,
        finish_reason,
        option_logprobs,
        prompt_tokens,
        completion_tokens,
        latency_ms,
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
        requests.format,
        requests.arm,
        requests.n_letters,
        arms.has_abstention,
        arms.has_abstention or arms.options in ('rotated', 'gold_removed') as has_own_options,
        completions_united.text,
        completions_united.is_too_long,
        completions_united.finish_reason,
        completions_united.prompt_tokens,
        completions_united.completion_tokens,
        completions_united.latency_ms,
        case
            when arms.instruction_part = 'instruction_confidence'
                then {{ parse_confidence('completions_united.text') }}
        end as stated_confidence,
        -- An open-ended reply holds no letter.
        case
            when requests.format = 'mcq'
                then {{ parse_choice('completions_united.text', 'requests.n_letters') }}
        end as choice,
        case
            when json_valid(completions_united.option_logprobs)
                then completions_united.option_logprobs
        end as option_logprobs
    from requests
    inner join completions_united
        on requests.request_key = completions_united.request_key
    inner join arms
        on requests.arm = arms.arm

),

logprobs_read as (

    select
        *,
        {%- for letter in letters %}
        case
            when n_letters >= {{ loop.index }}
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
        {%- endfor %} as total_weight,
        case when not is_too_long then choice.letter end as parsed_letter
    from weighed

),

responses as (

    select
        ---------- ids
        totalled.request_key,
        totalled.model,
        totalled.mode,
        totalled.repetition,
        totalled.item_id,
        totalled.format,
        totalled.arm,

        ---------- reply
        totalled.text as raw_completion,

        ---------- letter
        totalled.parsed_letter,
        case
            when totalled.is_too_long then 'too_long'
            when totalled.finish_reason = 'length' and totalled.parsed_letter is null
                then 'truncated'
            when totalled.format = 'mcq' then totalled.choice.status
            when regexp_matches({{ strip_reasoning('totalled.text') }}, '\S') then 'open'
            else 'empty'
        end as parse_status,
        case when totalled.is_too_long then 'none' else coalesce(totalled.choice.rule, 'none') end
            as parse_rule,

        ---------- choice
        case
            when totalled.has_own_options then arm_options.option_key
            else item_options.option_key
        end as chosen_option_key,
        cast(
            totalled.has_abstention
            and totalled.parsed_letter is not null
            and arm_options.option_key is null as integer
        ) as abstained,
        totalled.stated_confidence,

        ---------- probabilities
        {%- for letter in letters %}
        {{ rounded_share('totalled.weight_' ~ letter ~ ' / totalled.total_weight') }}
            as p_{{ letter }},
        {%- endfor %}

        ---------- effort
        totalled.prompt_tokens,
        totalled.completion_tokens,
        totalled.latency_ms
    from totalled
    left join item_options
        on totalled.item_id = item_options.item_id
        and totalled.parsed_letter = item_options.option_letter
    left join arm_options
        on totalled.item_id = arm_options.item_id
        and totalled.arm = arm_options.arm
        and totalled.parsed_letter = arm_options.option_letter

)

select * from responses
