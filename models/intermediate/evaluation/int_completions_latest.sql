with

completions as (

    select * from {{ ref('int_completions_checked') }}
    where set_aside_reason is null

),

judged as (

    select
        *,
        coalesce(finish_reason, '') <> 'error' and coalesce(error, '') = '' as is_success,
        coalesce(error, '') like 'too_long%' as is_too_long,
        -- An engine will refuse the one again, and the other would take more servers down.
        split_part(coalesce(error, ''), ':', 1) in ('too_long', 'server_died') as is_final
    from completions

),

ranked as (

    select
        *,
        max(attempt) over (partition by request_key) as n_attempts,
        row_number() over (
            partition by request_key
            order by
                is_success desc,
                case when is_success then attempt else -attempt end,
                attempt
        ) as choice_rank
    from judged

),

latest as (

    select
        ---------- ids
        request_key,
        attempt,

        ---------- who answered
        stage,
        model,
        revision,
        engine,

        ---------- reply
        text,
        finish_reason,
        prompt_tokens,
        completion_tokens,
        option_logprobs,
        latency_ms,
        error,

        ---------- state
        is_success,
        is_too_long,
        is_final,
        n_attempts
    from ranked
    where choice_rank = 1

)

select * from latest
