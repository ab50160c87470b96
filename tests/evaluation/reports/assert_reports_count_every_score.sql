-- Source × model × mode in which the scores of the headline arms, rpt_accuracy and
-- rpt_leaderboard do not count the same answers, or the two reports not the same requests. A source that is made from another scored one
-- (seed source_overlaps) counts by itself, not in `all`.
with

scores as (

    select
        source,
        model,
        mode,
        count(*) as n
    from {{ ref('fct_scores') }}
    where arm in (select arm from {{ ref('prompt_arms') }} where is_headline)
        and repetition = 1
    group by
        source,
        model,
        mode

),

copies as (

    select made.source
    from {{ ref('source_overlaps') }} as made
    inner join (select distinct source from scores) as origins
        on made.derived_from = origins.source

),

expected as (

    select
        source,
        model,
        mode,
        n
    from scores
    union all
    select
        'all' as source,
        model,
        mode,
        sum(n) as n
    from scores
    where source not in (select source from copies)
    group by
        model,
        mode

),

accuracies as (

    select
        source,
        model,
        mode,
        sum(n) as n,
        sum(n_asked) as n_asked
    from {{ ref('rpt_accuracy') }}
    group by
        source,
        model,
        mode

),

leaderboard as (

    select
        'all' as source,
        *
    from {{ ref('rpt_leaderboard') }}

),

compared as (

    select
        coalesce(expected.source, accuracies.source) as source,
        coalesce(expected.model, accuracies.model) as model,
        coalesce(expected.mode, accuracies.mode) as mode,
        coalesce(expected.n, 0) as n_scores,
        coalesce(accuracies.n, 0) as n_accuracies,
        accuracies.n_asked
    from expected
    full outer join accuracies
        on expected.source = accuracies.source
        and expected.model = accuracies.model
        and expected.mode = accuracies.mode

)

select
    coalesce(leaderboard.source, compared.source) as source,
    coalesce(leaderboard.model, compared.model) as model,
    coalesce(leaderboard.mode, compared.mode) as mode,
    leaderboard.n as n_leaderboard,
    leaderboard.n_asked,
    compared.n_scores,
    compared.n_accuracies
from leaderboard
full outer join compared
    on leaderboard.source = compared.source
    and leaderboard.model = compared.model
    and leaderboard.mode = compared.mode
where compared.n_scores <> compared.n_accuracies
    or compared.n_accuracies > compared.n_asked
    or (
        coalesce(leaderboard.source, compared.source) = 'all'
        and (
            leaderboard.n is distinct from coalesce(compared.n_scores, 0)
            or leaderboard.n_asked is distinct from coalesce(compared.n_asked, 0)
        )
    )
    or leaderboard.n <> leaderboard.n_dx + leaderboard.n_tx + leaderboard.n_px
