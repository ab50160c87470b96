-- Leaderboard rows whose overall is not the plain mean of the tasks that are estimable, is missing
-- though all are, or stands beside a task that others are judged by and this model is not.
with

leaderboard as (

    select * from {{ ref('rpt_leaderboard') }}

),

means as (

    select
        model,
        mode,
        overall,
        case when dx is null then 0 else 1 end
            + case when tx is null then 0 else 1 end
            + case when px is null then 0 else 1 end as n_tasks,
        coalesce(dx, 0) + coalesce(tx, 0) + coalesce(px, 0) as sum_of_tasks
    from leaderboard

),

widest as (

    select max(n_tasks) as n_tasks
    from means

)

select means.*
from means
cross join widest
where abs(means.overall - means.sum_of_tasks / nullif(means.n_tasks, 0)) > 0.000002
    or (means.overall is null and means.n_tasks = 3)
    or (means.overall is not null and means.n_tasks < widest.n_tasks)
