-- Stage × model × mode in which int_requests_pending, which Python reads, and the statuses missing
-- and no_weights, which people read, disagree.
with

pending as (

    select
        stage,
        model,
        mode,
        count(*) as n_pending
    from {{ ref('int_requests_pending') }}
    group by
        stage,
        model,
        mode

),

missing as (

    select
        stage,
        model,
        mode,
        n as n_missing
    from {{ ref('rpt_missing_completions') }}
    where status in ('missing', 'no_weights')

)

select
    coalesce(pending.stage, missing.stage) as stage,
    coalesce(pending.model, missing.model) as model,
    coalesce(pending.mode, missing.mode) as mode,
    pending.n_pending,
    missing.n_missing
from pending
full outer join missing
    on pending.stage = missing.stage
    and pending.model = missing.model
    and pending.mode = missing.mode
where pending.n_pending is distinct from missing.n_missing
