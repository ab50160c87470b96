-- Tiers of the models of a mode. From the best down, the first model that is not in a tier yet
-- leads one; those behind it belong to it up to the first that is separated from the leader:
-- their rank intervals do not overlap, or the paired difference is significant after Holm. That
-- parts the list in one way, where "not separated from each other" alone would not: a may be
-- level with b and b with c, but not a with c. Grain: one row per model × mode whose overall is
-- estimable.
with recursive

ranks as (

    select * from {{ ref('int_rank_bootstrap') }}
    where rank is not null

),

differences as (

    select * from {{ ref('rpt_model_differences') }}

),

placed as (

    select
        model,
        mode,
        rank,
        rank_low,
        rank_high,
        row_number() over (partition by mode order by rank, model) as place
    from ranks

),

-- Who comes behind a leader's tier.
ends as (

    select
        leaders.mode,
        leaders.place,
        min(others.place) as next_place
    from placed as leaders
    inner join placed as others
        on leaders.mode = others.mode
        and leaders.place < others.place
    left join differences
        on leaders.mode = differences.mode
        and differences.first_model = least(leaders.model, others.model)
        and differences.second_model = greatest(leaders.model, others.model)
    where leaders.rank_high < others.rank_low
        or differences.p_holm <= {{ var('tier_alpha') }}
    group by
        leaders.mode,
        leaders.place

),

leaders as (

    select
        mode,
        place,
        1 as tier
    from placed
    where place = 1

    union all

    select
        ends.mode,
        ends.next_place as place,
        leaders.tier + 1 as tier
    from leaders
    inner join ends
        on leaders.mode = ends.mode
        and leaders.place = ends.place

),

tiers as (

    select
        placed.model,
        placed.mode,
        placed.rank,
        cast(max(leaders.tier) as integer) as tier
    from placed
    inner join leaders
        on placed.mode = leaders.mode
        and leaders.place <= placed.place
    group by
        placed.model,
        placed.mode,
        placed.rank

)

select * from tiers
