-- Model × stage × mode × format × arm × repetition with more requests than the plan allows, or with
-- requests that no enabled row of this target asks.
with

requests as (

    select
        stage,
        model,
        mode,
        format,
        arm,
        repetition,
        count(*) as n_requests
    from {{ ref('fct_requests') }}
    group by
        stage,
        model,
        mode,
        format,
        arm,
        repetition

),

plan as (

    select * from {{ ref('run_plan') }}
    where target = '{{ var('plan_target', target.name) }}'
        and enabled

)

select
    requests.*,
    plan.max_requests
from requests
left join plan
    on requests.stage = plan.stage
    and requests.model = plan.model
    and requests.mode = plan.mode
    and coalesce(requests.format, 'mcq') = coalesce(plan.format, 'mcq')
    and coalesce(requests.arm, 'standard') = coalesce(plan.arm, 'standard')
    and requests.repetition = plan.repetition
where plan.model is null
    or requests.n_requests > plan.max_requests
