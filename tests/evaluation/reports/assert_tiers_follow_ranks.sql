-- Tiers that do not start at 1, leave a number out, or put a better model into a worse tier.
with

tiers as (

    select
        mode,
        model,
        rank,
        tier,
        lag(tier) over (partition by mode order by rank, model) as tier_above
    from {{ ref('rpt_leaderboard') }}
    where rank is not null

)

select *
from tiers
where tier is null
    or tier < coalesce(tier_above, 1)
    or tier > coalesce(tier_above + 1, 1)
