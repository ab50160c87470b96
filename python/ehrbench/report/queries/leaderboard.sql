with

by_options as (

    select
        model,
        mode,
        cast(sum(n) filter (where n_options = 4) as integer) as n_acc_4,
        cast(sum(n) filter (where n_options = 5) as integer) as n_acc_5,
        cast(sum(n) filter (where n_options = 6) as integer) as n_acc_6
    from rpt_accuracy
    where source = 'all'
    group by
        model,
        mode

)

select
    board.model,
    board.mode,
    board.n,
    board.n_dx,
    board.n_tx,
    board.n_px,
    by_options.n_acc_4,
    by_options.n_acc_5,
    by_options.n_acc_6,
    board.n_asked,
    board.n_templates,
    board.n_clusters,
    board.rank,
    board.rank_low,
    board.rank_high,
    board.p_best,
    board.tier,
    board.overall,
    board.overall_low,
    board.overall_high,
    board.dx,
    board.dx_low,
    board.dx_high,
    board.tx,
    board.tx_low,
    board.tx_high,
    board.px,
    board.px_low,
    board.px_high,
    board.acc_4,
    board.acc_4_low,
    board.acc_4_high,
    board.acc_5,
    board.acc_5_low,
    board.acc_5_high,
    board.acc_6,
    board.acc_6_low,
    board.acc_6_high,
    board.parse_failure_rate,
    board.parse_failure_rate_low,
    board.parse_failure_rate_high,
    board.chance_corrected,
    board.chance_corrected_low,
    board.chance_corrected_high,
    board.valid_only,
    board.valid_only_low,
    board.valid_only_high,
    board.n_effective,
    models.kind = 'baseline' as is_baseline
from rpt_leaderboard as board
left join by_options
    on board.model = by_options.model
    and board.mode = by_options.mode
left join models
    on board.model = models.model
order by
    board.mode,
    board.rank is null,
    board.rank,
    board.overall desc,
    board.model
