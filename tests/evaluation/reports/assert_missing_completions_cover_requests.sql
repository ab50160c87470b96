-- Stage × model × mode × arm in which done, missing, no_weights, no_vectors, waiting and failed do not
-- add up to the planned requests.
with

requests as (

    select
        stage,
        model,
        mode,
        coalesce(arm, 'none') as arm,
        count(*) as n_requests
    from {{ ref('fct_requests') }}
    group by
        stage,
        model,
        mode,
        coalesce(arm, 'none')

),

statuses as (

    select
        stage,
        model,
        mode,
        arm,
        sum(n) as n_statuses
    from {{ ref('rpt_missing_completions') }}
    where status in ('done', 'missing', 'no_weights', 'no_vectors', 'waiting', 'failed')
    group by
        stage,
        model,
        mode,
        arm

)

select
    coalesce(requests.stage, statuses.stage) as stage,
    coalesce(requests.model, statuses.model) as model,
    coalesce(requests.mode, statuses.mode) as mode,
    coalesce(requests.arm, statuses.arm) as arm,
    requests.n_requests,
    statuses.n_statuses
from requests
full outer join statuses
    on requests.stage = statuses.stage
    and requests.model = statuses.model
    and requests.mode = statuses.mode
    and requests.arm = statuses.arm
where requests.n_requests is distinct from statuses.n_statuses
