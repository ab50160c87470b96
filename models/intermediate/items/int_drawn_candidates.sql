-- One row per template without a block x concept that may stand beside its answer, with its
-- exponential key in the weighted draw.
with

balanced as (

    select * from {{ ref('int_templates_balanced') }}
    where cap_reason is null
        and block_number is null

),

candidates as (

    select * from {{ ref('int_distractor_candidates') }}

),

drawn as (

    select
        candidates.template_number,
        candidates.pool_number,
        candidates.cui_id,
        {{ draw_exponential('balanced.template_key', 'candidates.cui_id') }} as exponential
    from candidates
    inner join balanced
        on candidates.template_number = balanced.template_number

)

select * from drawn
