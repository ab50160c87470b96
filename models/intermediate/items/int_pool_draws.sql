-- One row per pool with the way its distractors are found: in blocks where they hold enough of its
-- templates, by the weighted draw in a pool too small or too sparse for that. A large pool is never
-- drawn by weights: there what a concept's own templates leave open is found out.
with

matchable as (

    select * from {{ ref('int_matchable_templates') }}

),

blocks as (

    select * from {{ ref('int_matched_blocks') }}

),

counted as (

    select
        matchable.pool_number,
        count(*) as n_templates,
        count(blocks.template_number) as n_in_blocks
    from matchable
    left join blocks
        on matchable.template_number = blocks.template_number
    group by matchable.pool_number

),

decided as (

    select
        pool_number,
        cast(n_templates as integer) as n_templates,
        cast(n_in_blocks as integer) as n_in_blocks,
        case
            when n_templates >= {{ var('blocks_only_from') }} then 'blocks'
            when n_in_blocks >= n_templates * {{ var('block_min_share') }} and n_in_blocks > 0
                then 'blocks'
            else 'weighted'
        end as draw
    from counted

)

select * from decided
