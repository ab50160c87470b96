{%- set quantiles = {'p50': 0.5, 'p95': 0.95} %}
{%- set rates = {'items': 'n_attempts', 'tokens': 'tokens'} %}
{%- set z = var('interval_z') %}

-- Times and tokens are those of the runs in the manifest, latencies those of the completions that
-- count; a store of before the manifest has only the latter.
with

requests as (

    select * from {{ ref('fct_requests') }}
    -- A baseline inside dbt takes no time of an engine.
    where engine <> 'sql'

),

completions as (

    select * from {{ ref('int_completions_latest') }}
    where is_success

),

runs as (

    select * from {{ ref('int_runs_checked') }}
    where set_aside_reason is null

),

asked as (

    select
        requests.model,
        requests.mode,
        requests.stage,
        min(requests.revision) as revision,
        count(*) as n_asked,
        count(completions.request_key) as n
    from requests
    left join completions
        on requests.request_key = completions.request_key
    group by
        requests.model,
        requests.mode,
        requests.stage

),

runs_kept as (

    select
        runs.model,
        runs.mode,
        runs.stage,
        runs.device,
        runs.engine_version,
        runs.n_asked,
        runs.n_failed,
        runs.prompt_tokens,
        runs.completion_tokens,
        runs.wall_ms
    from runs
    inner join asked
        on runs.model = asked.model
        and runs.mode = asked.mode
        and runs.stage = asked.stage
        and runs.revision = asked.revision

),

run_totals as (

    select
        model,
        mode,
        stage,
        count(*) as n_runs,
        case when min(device) = max(device) then min(device) else 'several' end as device,
        case when min(engine_version) = max(engine_version) then min(engine_version) else 'several'
            end as engine_version,
        sum(n_asked) as n_attempts,
        sum(n_failed) as n_failed,
        sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens,
        sum(prompt_tokens + completion_tokens) as tokens,
        sum(wall_ms) as wall_ms
    from runs_kept
    group by
        model,
        mode,
        stage

),

-- Both rates are ratios of sums over runs. What a run moves one by is its share of the work less
-- its share of the time, in whole numbers of 1e-12.
run_moves as (

    select
        runs_kept.model,
        runs_kept.mode,
        runs_kept.stage,
        cast(round(1e12 * (
            cast(runs_kept.n_asked as double) / nullif(run_totals.n_attempts, 0)
            - cast(runs_kept.wall_ms as double) / nullif(run_totals.wall_ms, 0)
        )) as hugeint) as items_move,
        cast(round(1e12 * (
            cast(runs_kept.prompt_tokens + runs_kept.completion_tokens as double)
                / nullif(run_totals.tokens, 0)
            - cast(runs_kept.wall_ms as double) / nullif(run_totals.wall_ms, 0)
        )) as hugeint) as tokens_move
    from runs_kept
    inner join run_totals
        on runs_kept.model = run_totals.model
        and runs_kept.mode = run_totals.mode
        and runs_kept.stage = run_totals.stage

),

run_spread as (

    select
        model,
        mode,
        stage,
        {%- for rate in rates %}
        -- Half the width of the interval as a share of the rate; null with a single run.
        case
            when count(*) >= 2 then {{ z }} * sqrt(
                cast(count(*) as double) / (count(*) - 1)
                * cast(sum({{ rate }}_move * {{ rate }}_move) as double)
            ) / 1e12
        end as {{ rate }}_spread{{ ',' if not loop.last }}
        {%- endfor %}
    from run_moves
    group by
        model,
        mode,
        stage

),

latencies as (

    select
        requests.model,
        requests.mode,
        requests.stage,
        completions.latency_ms,
        row_number() over (
            partition by requests.model, requests.mode, requests.stage
            order by completions.latency_ms, requests.request_key
        ) as place,
        count(*) over (partition by requests.model, requests.mode, requests.stage) as n_latencies
    from requests
    inner join completions
        on requests.request_key = completions.request_key
    where completions.latency_ms is not null

),

-- A quantile is the latency at its place; its interval the latencies at the places that a
-- binomial count would take.
latency_quantiles as (

    select
        model,
        mode,
        stage,
        max(n_latencies) as n_latencies,
        {%- for name, share in quantiles.items() %}
        {%- set middle = 'n_latencies * ' ~ share %}
        {%- set half = z ~ ' * sqrt(n_latencies * ' ~ share * (1 - share) ~ ')' %}
        min(latency_ms) filter (where place >= {{ middle }}) as latency_{{ name }},
        max(latency_ms) filter (
            where place <= greatest(1, floor({{ middle }} - {{ half }}))
        ) as latency_{{ name }}_low,
        min(latency_ms) filter (
            where place >= least(n_latencies, ceil({{ middle }} + {{ half }}) + 1)
        ) as latency_{{ name }}_high{{ ',' if not loop.last }}
        {%- endfor %}
    from latencies
    group by
        model,
        mode,
        stage

),

efficiency as (

    select
        ---------- ids
        asked.model,
        asked.mode,
        asked.stage,

        ---------- counts
        cast(asked.n as integer) as n,
        cast(asked.n_asked as integer) as n_asked,
        cast(coalesce(run_totals.n_runs, 0) as integer) as n_runs,
        cast(coalesce(run_totals.n_attempts, 0) as bigint) as n_attempts,
        cast(coalesce(run_totals.n_failed, 0) as bigint) as n_failed,
        run_totals.device,
        run_totals.engine_version,

        ---------- time and tokens
        cast(run_totals.wall_ms / 1000.0 as decimal(18, 3)) as wall_s,
        cast(run_totals.prompt_tokens as bigint) as prompt_tokens,
        cast(run_totals.completion_tokens as bigint) as completion_tokens,
        {%- for rate, work in rates.items() %}
        {%- set value = 'cast(run_totals.' ~ work
            ~ ' as double) * 1000 / nullif(run_totals.wall_ms, 0)' %}
        {%- set spread = 'run_spread.' ~ rate ~ '_spread' %}
        cast(round({{ value }}, 4) as decimal(18, 4)) as {{ rate }}_per_s,
        case
            when {{ spread }} is not null
                then cast(round({{ value }} * greatest(0.0, 1 - {{ spread }}), 4) as decimal(18, 4))
        end as {{ rate }}_per_s_low,
        cast(round({{ value }} * (1 + {{ spread }}), 4) as decimal(18, 4))
            as {{ rate }}_per_s_high,
        {%- endfor %}

        ---------- latency
        cast(coalesce(latency_quantiles.n_latencies, 0) as integer) as n_latencies,
        {%- for name in quantiles %}
        {%- for end in ['', '_low', '_high'] %}
        latency_quantiles.latency_{{ name }}{{ end }} as latency_{{ name }}{{ end }}_ms
        {{- ',' if not loop.last }}
        {%- endfor %}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from asked
    left join run_totals
        on asked.model = run_totals.model
        and asked.mode = run_totals.mode
        and asked.stage = run_totals.stage
    left join run_spread
        on asked.model = run_spread.model
        and asked.mode = run_spread.mode
        and asked.stage = run_spread.stage
    left join latency_quantiles
        on asked.model = latency_quantiles.model
        and asked.mode = latency_quantiles.mode
        and asked.stage = latency_quantiles.stage

)

select * from efficiency
