-- Enabled plan rows whose model has no sampling settings for the mode: their requests would have no
-- settings and no stable key.
select
    run_plan.target,
    run_plan.model,
    run_plan.mode
from {{ ref('run_plan') }} as run_plan
left join {{ ref('models') }} as models
    on run_plan.model = models.model
where run_plan.enabled
    and json_type(models.sampling, concat('$.', run_plan.mode)) is distinct from 'OBJECT'
