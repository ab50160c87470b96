with

source as (

    select * from {{ raw('completions', 'runs') }}

),

renamed as (

    select
        ---------- ids
        cast(run_id as varchar) as run_id,
        cast(mode as varchar) as mode,

        ---------- what ran
        cast(stage as varchar) as stage,
        cast(model as varchar) as model,
        cast(revision as varchar) as revision,
        cast(engine as varchar) as engine,
        cast(engine_version as varchar) as engine_version,
        cast(vllm_version as varchar) as vllm_version,
        cast(torch_version as varchar) as torch_version,
        cast(transformers_version as varchar) as transformers_version,
        cast(python_version as varchar) as python_version,
        cast(ehrbench_version as varchar) as ehrbench_version,
        cast(device as varchar) as device,
        cast(parameters as varchar) as parameters,

        ---------- times
        cast(started_at as timestamp) as started_at,
        cast(ended_at as timestamp) as ended_at,
        cast(start_ms as bigint) as start_ms,
        cast(wall_ms as bigint) as wall_ms,

        ---------- numerics
        cast(n_asked as bigint) as n_asked,
        cast(n_failed as bigint) as n_failed,
        cast(prompt_tokens as bigint) as prompt_tokens,
        cast(completion_tokens as bigint) as completion_tokens,
        cast(schema_version as integer) as schema_version
    from source

)

select * from renamed
