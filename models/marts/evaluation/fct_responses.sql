{%- set letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'] %}

with

requests as (

    select * from {{ ref('int_answer_requests') }}

),

arms as (

    select * from {{ ref('prompt_arms') }}

),

models as (

    select * from {{ ref('models') }}

),

lexicon as (

    select * from {{ ref('hedge_lexicon') }}
    where kind in ('abstain', 'unlettered', 'refuse')

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
        arms.has_own_options,
        completions_united.text,
        {{ mark_reasoning('completions_united.text', 'models.strip_markers') }} as marked_text,
        completions_united.is_too_long,
        completions_united.finish_reason,
        completions_united.prompt_tokens,
        completions_united.completion_tokens,
        completions_united.latency_ms,
        arms.instruction_part = 'instruction_confidence' as asks_confidence,
        case
            when json_valid(completions_united.option_logprobs)
                then completions_united.option_logprobs
        end as option_logprobs
    from requests
    inner join completions_united
        on requests.request_key = completions_united.request_key
    inner join arms
        on requests.arm = arms.arm
    left join models
        on requests.model = models.model

),

confidence_read as (

    select
        *,
        case when asks_confidence then {{ parse_confidence('marked_text') }} end as stated
    from answered

),

-- An open-ended reply holds no letter.
choice_read as materialized (

    select
        * exclude (stated),
        stated.confidence as stated_confidence,
        case
            when format = 'mcq'
                then {{ parse_choice('coalesce(stated.rest, marked_text)', 'n_letters') }}
        end as choice
    from confidence_read

),

-- Replies without a letter may abstain in words, where they are offered to, or decline.
unlettered as (

    select
        request_key,
        item_id,
        arm,
        has_abstention,
        has_own_options,
        {{ leak_words(strip_reasoning('marked_text')) }} as words
    from choice_read
    where choice.status = 'unparsed'
        and not is_too_long

),

offered as (

    select
        unlettered.request_key,
        arm_options.option_letter,
        arm_options.option_key is null as is_abstention,
        {{ leak_words('arm_options.label') }} as label_words
    from unlettered
    inner join arm_options
        on unlettered.item_id = arm_options.item_id
        and unlettered.arm = arm_options.arm
    where unlettered.has_own_options

    union all

    select
        unlettered.request_key,
        item_options.option_letter,
        false as is_abstention,
        {{ leak_words('item_options.label') }} as label_words
    from unlettered
    inner join item_options
        on unlettered.item_id = item_options.item_id
    where not unlettered.has_own_options

),

-- The label of the option to abstain, or how it begins, says so as well as a phrase does.
phrases_said as (

    select
        unlettered.request_key,
        unlettered.words,
        lexicon.phrase,
        lexicon.kind
    from unlettered
    inner join lexicon
        on {{ says_phrase('unlettered.words', 'lexicon.phrase') }}

    union all

    select
        unlettered.request_key,
        unlettered.words,
        trim(offered.label_words) as phrase,
        'abstain' as kind
    from unlettered
    inner join offered
        on unlettered.request_key = offered.request_key
    where offered.is_abstention
        and (
            starts_with(offered.label_words, unlettered.words)
            or {{ says_phrase('unlettered.words', 'trim(offered.label_words)') }}
        )

),

phrases_counted as (

    select
        request_key,
        bool_or(kind <> 'refuse') as is_abstention,
        arg_min(rest, length(rest)) as last_words
    from (
        select
            *,
            concat(' ', string_split(words, concat(' ', phrase, ' '))[-1]) as rest
        from phrases_said
    ) as with_rest
    group by request_key

),

-- "Not enough information, but aspirin is likely" does not abstain: it goes on to one option.
goes_on as (

    select phrases_counted.request_key
    from phrases_counted
    inner join offered
        on phrases_counted.request_key = offered.request_key
        and contains(phrases_counted.last_words, offered.label_words)
    where not offered.is_abstention
    group by phrases_counted.request_key
    having count(*) = 1

),

declined as (

    select
        unlettered.request_key,
        offered.option_letter
    from unlettered
    inner join phrases_counted
        on unlettered.request_key = phrases_counted.request_key
    left join offered
        on unlettered.request_key = offered.request_key
        and offered.is_abstention
        and phrases_counted.is_abstention
    anti join goes_on
        on unlettered.request_key = goes_on.request_key

),

letters_read as (

    select
        choice_read.* exclude (choice),
        case
            when not choice_read.is_too_long
                then coalesce(choice_read.choice.letter, declined.option_letter)
        end as parsed_letter,
        case
            when choice_read.is_too_long then 'too_long'
            when choice_read.finish_reason = 'length'
                and coalesce(choice_read.choice.letter, declined.option_letter) is null
                then 'truncated'
            when declined.option_letter is not null then 'parsed'
            when declined.request_key is not null then 'refused'
            when choice_read.format = 'mcq' then choice_read.choice.status
            when regexp_matches({{ strip_reasoning('choice_read.marked_text') }}, '\S') then 'open'
            else 'empty'
        end as parse_status,
        case
            when choice_read.is_too_long then 'none'
            when declined.option_letter is not null then 'abstention_words'
            when declined.request_key is not null then 'refusal_words'
            else coalesce(choice_read.choice.rule, 'none')
        end as parse_rule
    from choice_read
    left join declined
        on choice_read.request_key = declined.request_key

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
    from letters_read

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
        totalled.parse_status,
        totalled.parse_rule,

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
