-- The lift of B5b, statements that the knowledge base has on an option, with B5a beside it: the
-- ceiling of an answerer who knows the literature.
with

surface_baselines as (

    select * from {{ ref('rpt_surface_baselines') }}

),

oracle as (

    select
        source,
        task,
        accuracy as oracle_accuracy
    from surface_baselines
    where baseline = 'B5a'
        and draw = 'all'
        and n_options is null

),

baselines as (

    select
        surface_baselines.*,
        oracle.oracle_accuracy
    from surface_baselines
    left join oracle
        on surface_baselines.source = oracle.source
        and surface_baselines.task = oracle.task

),

{{ baseline_lift_results('L23', 'B5b',
    "concat('accuracy ', accuracy, ', chance ', chance, ', of the KB oracle ', oracle_accuracy)") }}

select * from results
