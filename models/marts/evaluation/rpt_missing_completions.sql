with

requests as (

    select * from {{ ref('fct_requests') }}

),

latest as (

    select * from {{ ref('int_completions_latest') }}

),

baseline_completions as (

    select * from {{ ref('int_baseline_completions') }}

),

models as (

    select * from {{ ref('models') }}

),

weights as (

    select * from {{ ref('stg_completions__weights') }}

),

extraction_prompts as (

    select * from {{ ref('int_extraction_prompts') }}

),

answer_prompts as (

    select * from {{ ref('int_answer_prompts') }}

),

-- Engine vllm reads the weights from this machine: a folder of the registry's name, or its last
-- part, or the model's own name.
models_without_weights as (

    select models.model
    from models
    anti join weights
        on weights.folder = regexp_extract(models.weights, '[^/]+$')
        or weights.folder = models.model
    where models.engine = 'vllm'

),

planned_statuses as (

    select
        requests.stage,
        requests.model,
        requests.mode,
        coalesce(requests.arm, 'none') as arm,
        case
            when latest.is_success or baseline_completions.request_key is not null then 'done'
            when latest.is_final or latest.n_attempts >= requests.max_attempts then 'failed'
            when requests.is_waiting then 'waiting'
            when models_without_weights.model is not null then 'no_weights'
            when requests.engine = 'sql' then 'no_vectors'
            else 'missing'
        end as status
    from requests
    left join models_without_weights
        on requests.model = models_without_weights.model
    left join latest
        on requests.request_key = latest.request_key
    left join baseline_completions
        on requests.request_key = baseline_completions.request_key

),

planned_counts as (

    select
        stage,
        model,
        mode,
        arm,
        status,
        count(*) as n
    from planned_statuses
    group by
        stage,
        model,
        mode,
        arm,
        status

),

-- The store does not say mode and arm, so completions without a request are counted over all.
orphaned_counts as (

    select
        latest.stage,
        latest.model,
        'any' as mode,
        'any' as arm,
        'orphaned' as status,
        count(*) as n
    from latest
    left join requests
        on latest.request_key = requests.request_key
    where requests.request_key is null
    group by
        latest.stage,
        latest.model

),

prompt_counts as (

    select
        'extraction' as stage,
        'none' as arm,
        count(distinct prompt_key) as n_prompts
    from extraction_prompts
    union all
    select
        'answers' as stage,
        arm,
        count(*) as n_prompts
    from answer_prompts
    group by arm

),

-- Model × stage; a baseline proposes no triples. Modes, arms and repetitions that the plan names,
-- else one line for any.
plan_counts as (

    select
        stage,
        model,
        mode,
        coalesce(arm, 'none') as arm,
        repetition,
        count(*) as n_requests
    from requests
    group by
        stage,
        model,
        mode,
        coalesce(arm, 'none'),
        repetition

),

not_planned as (

    select
        prompt_counts.stage,
        models.model,
        coalesce(plan_counts.mode, 'any') as mode,
        coalesce(plan_counts.arm, 'any') as arm,
        'not_planned' as status,
        prompt_counts.n_prompts - coalesce(plan_counts.n_requests, 0) as n
    from models
    inner join prompt_counts
        on coalesce(models.kind, '') <> 'embedding'
        and (models.engine <> 'sql' or prompt_counts.stage = 'answers')
    left join plan_counts
        on models.model = plan_counts.model
        and prompt_counts.stage = plan_counts.stage
        and prompt_counts.arm = plan_counts.arm

),

not_planned_counts as (

    select
        stage,
        model,
        mode,
        arm,
        status,
        sum(n) as n
    from not_planned
    where n > 0
    group by
        stage,
        model,
        mode,
        arm,
        status

),

united as (

    select * from planned_counts
    union all
    select * from orphaned_counts
    union all
    select * from not_planned_counts

),

missing_completions as (

    select
        stage,
        model,
        mode,
        arm,
        status,
        cast(n as integer) as n
    from united

)

select * from missing_completions
