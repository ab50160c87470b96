select
    model,
    mode,
    stage,
    n,
    n_asked,
    n_failed,
    device,
    engine_version,
    wall_s,
    completion_tokens,
    items_per_s,
    items_per_s_low,
    items_per_s_high,
    round(latency_p50_ms / 1000.0, 3) as latency_p50_s,
    round(latency_p50_low_ms / 1000.0, 3) as latency_p50_s_low,
    round(latency_p50_high_ms / 1000.0, 3) as latency_p50_s_high,
    round(latency_p95_ms / 1000.0, 3) as latency_p95_s,
    round(latency_p95_low_ms / 1000.0, 3) as latency_p95_s_low,
    round(latency_p95_high_ms / 1000.0, 3) as latency_p95_s_high
from rpt_efficiency
where n > 0
order by
    stage,
    model,
    mode
