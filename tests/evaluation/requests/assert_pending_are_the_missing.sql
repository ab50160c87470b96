-- Stage × model × mode × arm in which int_requests_pending, which Python reads, and the statuses
-- missing and no_weights, which people read, disagree.
with

pending as (

    select
        stage,
        model,
        mode,
        coalesce(arm, 'none') as arm,
        count(*) as n_pending
    from {{ ref('int_requests_pending') }}
    group by
        stage,
        model,
        mode,
        coalesce(arm, 'none')

),

missing as (

    select
        stage,
        model,
        mode,
        arm,
        n as n_missing
    from {{ ref('rpt_missing_completions') }}
    where status in ('missing', 'no_weights')

)

select
    coalesce(pending.stage, missing.stage) as stage,
    coalesce(pending.model, missing.model) as model,
    coalesce(pending.mode, missing.mode) as mode,
    coalesce(pending.arm, missing.arm) as arm,
    pending.n_pending,
    missing.n_missing
from pending
full outer join missing
    on pending.stage = missing.stage
    and pending.model = missing.model
    and pending.mode = missing.mode
    and pending.arm = missing.arm
where pending.n_pending is distinct from missing.n_missing
