-- The lift of B6: whether the answer's name is the nearest or farthest one in the space of an
-- embedding model. No rows where nothing was embedded.
with

baselines as (

    select * from {{ ref('rpt_surface_baselines') }}

),

{{ baseline_lift_results('L38', 'B6') }}

select * from results
