-- Surface baselines that the gates judge and that still beat chance on items drawn by weights: of
-- each its strongest pick, over all sources and tasks, where the whole interval lies above zero.
with

results as (

    select * from rpt_surface_baselines
    where source = 'all'
        and task = 'all'
        and draw = 'weighted'
        and n_options is null

),

baselines as (

    select * from surface_baselines
    where gate in ('fail', 'warn')

),

strongest as (

    select
        results.baseline,
        baselines.question,
        results.model,
        results.n,
        results.lift,
        results.lift_low,
        results.lift_high
    from results
    inner join baselines
        on results.baseline = baselines.baseline
        and results.pick = baselines.pick
    where results.lift_low > 0
    qualify row_number() over (
        partition by results.baseline
        order by
            results.lift desc,
            results.pick,
            results.model
    ) = 1

)

select * from strongest
order by baseline
