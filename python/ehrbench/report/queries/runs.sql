-- With what the answers were made, and how often.
select
    runs.stage,
    runs.model,
    runs.mode,
    runs.revision,
    models.dtype,
    runs.engine,
    runs.engine_version,
    runs.torch_version,
    runs.transformers_version,
    runs.python_version,
    runs.ehrbench_version,
    runs.device,
    count(*) as n_runs,
    cast(sum(runs.n_asked) as bigint) as n_sent,
    cast(sum(runs.n_failed) as bigint) as n_failed
from int_runs_checked as runs
left join models
    on runs.model = models.model
where runs.set_aside_reason is null
group by all
order by
    runs.stage,
    runs.model,
    runs.mode,
    runs.revision,
    models.dtype,
    runs.engine,
    runs.engine_version,
    runs.torch_version,
    runs.transformers_version,
    runs.python_version,
    runs.ehrbench_version,
    runs.device
