-- Generators extract in mode json, answerers answer in another mode; baselines in SQL only answer.
select
    run_plan.target,
    run_plan.model,
    run_plan.role,
    run_plan.stage,
    run_plan.mode
from {{ ref('run_plan') }} as run_plan
inner join {{ ref('models') }} as models
    on run_plan.model = models.model
where (run_plan.role = 'generator') is distinct from (run_plan.stage = 'extraction')
    or (run_plan.mode = 'json') is distinct from (run_plan.stage = 'extraction')
    or (models.engine = 'sql' and run_plan.stage = 'extraction')
