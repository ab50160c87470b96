with

source as (

    select * from {{ raw('completions', 'completions') }}

),

renamed as (

    select
        ---------- ids
        cast(request_key as varchar) as request_key,
        cast(attempt as integer) as attempt,

        ---------- strings
        cast(stage as varchar) as stage,
        cast(model as varchar) as model,
        cast(revision as varchar) as revision,
        cast(engine as varchar) as engine,
        cast(text as varchar) as text,
        cast(finish_reason as varchar) as finish_reason,
        cast(option_logprobs as varchar) as option_logprobs,
        cast(error as varchar) as error,

        ---------- numerics
        cast(prompt_tokens as integer) as prompt_tokens,
        cast(completion_tokens as integer) as completion_tokens,
        cast(latency_ms as bigint) as latency_ms,
        cast(schema_version as integer) as schema_version
    from source

)

select * from renamed
