-- Leaderboard rows whose overall is not the plain mean of the tasks that have answers.
with

means as (

    select
        model,
        mode,
        overall,
        (coalesce(dx, 0) + coalesce(tx, 0) + coalesce(px, 0)) / nullif(
            case when dx is null then 0 else 1 end
            + case when tx is null then 0 else 1 end
            + case when px is null then 0 else 1 end,
            0
        ) as mean_of_tasks
    from {{ ref('rpt_leaderboard') }}

)

select *
from means
where abs(overall - mean_of_tasks) > 0.000002
    or (overall is null) is distinct from (mean_of_tasks is null)
