-- Model × mode in which the scores of the headline arm, rpt_accuracy and rpt_leaderboard do not
-- count the same answers.
with

scores as (

    select
        model,
        mode,
        count(*) as n
    from {{ ref('fct_scores') }}
    where arm = '{{ var("headline_arm") }}'
    group by
        model,
        mode

),

accuracies as (

    select
        model,
        mode,
        sum(n) as n
    from {{ ref('rpt_accuracy') }}
    group by
        model,
        mode

),

leaderboard as (

    select * from {{ ref('rpt_leaderboard') }}

)

select
    coalesce(leaderboard.model, scores.model, accuracies.model) as model,
    coalesce(leaderboard.mode, scores.mode, accuracies.mode) as mode,
    leaderboard.n as n_leaderboard,
    leaderboard.n_asked,
    scores.n as n_scores,
    accuracies.n as n_accuracies
from leaderboard
full outer join scores
    on leaderboard.model = scores.model
    and leaderboard.mode = scores.mode
full outer join accuracies
    on coalesce(leaderboard.model, scores.model) = accuracies.model
    and coalesce(leaderboard.mode, scores.mode) = accuracies.mode
where leaderboard.n is distinct from coalesce(scores.n, 0)
    or leaderboard.n is distinct from coalesce(accuracies.n, 0)
    or leaderboard.n > leaderboard.n_asked
    or leaderboard.n <> leaderboard.n_dx + leaderboard.n_tx + leaderboard.n_px
